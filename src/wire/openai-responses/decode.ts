import {
  createStreamDecoder,
  type ResponseEvent,
  type ResponsePart,
  type ResponseDecoder,
  type FinishReason,
  type StreamFold,
  type StreamFrame,
} from "../decode/events.ts";
import { fail, skip, shortName, endWith, foldItems, type StepResult } from "../decode/fold.ts";
import { itemContents, isRefusal, itemKindOf, responsesUsage, type ItemContent } from "./decode-items.ts";
import {
  isEnded,
  includesItem,
  isPartOfEndedItem,
  itemKey,
  noEndedItems,
  findOpenItem,
  addEndedItem,
  type EndedItems,
  type OpenItem,
  type OpenItemPart,
} from "./decode-open-items.ts";
import { parseApiError } from "../decode/api-error.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "../reader.ts";

/**
 * Decodes Responses. Streamed deltas are only for display: a part is taken from its finished item, or, where a server
 * streams no items, from the finished response.
 */
export const decodeOpenaiResponses: ResponseDecoder<unknown> = {
  open: () => createStreamDecoder(fold),
  frames: (body) => [frameOf(body)],
  parseError: parseApiError,
};

type ResponsesStreamState = {
  /** How many parts have started. */
  readonly partCount: number;
  readonly openItems: readonly OpenItem[];
  readonly endedItems: EndedItems;
  /** Sequence number and type of the latest event: a repeated one is skipped. */
  readonly sequence: number;
  readonly type: string;
  readonly hasCalls: boolean;
  readonly hasRefused: boolean;
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly over: boolean;
};

type ResponsesEventFields = Record<string, unknown>;

const fold: StreamFold<ResponsesStreamState> = {
  start: {
    partCount: 0,
    openItems: [],
    endedItems: noEndedItems,
    sequence: -1,
    type: "",
    hasCalls: false,
    hasRefused: false,
    model: undefined,
    id: undefined,
    over: false,
  },
  step: (state, frame) => step(state, frame),
  end: () => [],
};

const frameOf = (body: unknown): StreamFrame => {
  const { output, status } = objectOf(body);
  if (!Array.isArray(output)) return { name: "", data: body };
  const name = status === "queued" || status === "in_progress" ? "response.in_progress" : "response.completed";
  return { name, data: { type: name, response: body } };
};

const step = (state: ResponsesStreamState, { name, data }: StreamFrame): StepResult<ResponsesStreamState> => {
  const event = objectOf(data);
  const type = stringOf(event["type"]) ?? name;
  if (ignoredEvents.has(type)) return [state, []];
  if (state.over) return skip(state, `${shortName(type)} after the end`);
  if (endEvents.has(type)) return onEnding(state, type, objectOf(event["response"]));
  const read = handlers.get(type);
  if (read === undefined) return onUnknown(state, type, event);
  const sequence = numberOf(event["sequence_number"]) ?? -1;
  if (sequence < 0) return read(state, event);
  // The type counts too: some servers use the same number for all events.
  if (sequence < state.sequence || (sequence === state.sequence && type === state.type))
    return skip(state, `${type} again`);
  return read({ ...state, sequence, type }, event);
};

type EventHandler = (state: ResponsesStreamState, event: ResponsesEventFields) => StepResult<ResponsesStreamState>;

const onCreated: EventHandler = (state, event) => onAnswering(state, objectOf(event["response"]));

const onAnswering: EventHandler = (state, response) => {
  const model = stringOf(response["model"]) ?? state.model;
  const id = stringOf(response["id"]) ?? state.id;
  if (model === state.model && id === state.id) return [state, []];
  const names = { ...(model === undefined ? {} : { model }), ...(id === undefined ? {} : { id }) };
  return [{ ...state, model, id }, [{ type: "response-start", ...names }]];
};

/** Starts an item. Thinking and calls get an index here, text with its first delta: a message may stay empty. */
const onItemAdded: EventHandler = (state, event) => {
  const item = objectOf(event["item"]);
  const [id, place, kind] = [idOf(item["id"]), numberOf(event["output_index"]), itemKindOf(item)];
  const isOpen = state.openItems.some((open) => open.id === id && (id !== "" || open.place === place));
  if (isOpen || isEnded(state.endedItems, itemKey(item, place), place))
    return skip(state, `${shortName(item["type"])} again`);
  if (hasForeignRole(item)) return fail(state, `A message has the role ${shortName(item["role"])}.`);
  if (state.openItems.length === maxOpenItems) return fail(state, `More than ${maxOpenItems} items are open at once.`);
  const tool = stringOf(item["name"]) ?? "";
  const isNamedCall = kind === "call" && tool !== "";
  const hasIndex = isNamedCall || (kind === "thinking" && id !== "");
  const slots = new Map(hasIndex ? [[0, { index: state.partCount, streamed: false }]] : []);
  const partCount = hasIndex ? state.partCount + 1 : state.partCount;
  return [
    { ...state, partCount, openItems: [...state.openItems, { id, place, kind, slots }] },
    isNamedCall
      ? [{ type: "call-start", index: state.partCount, tool, ...callIdOf(item["call_id"] ?? item["id"]) }]
      : [],
  ];
};

const callIdOf = (value: unknown): { readonly id?: string } => (idOf(value) === "" ? {} : { id: idOf(value) });

/** Far more than any response has, and few enough for linear search and copies. */
const maxOpenItems = 1000;

const hasForeignRole = ({ type, role }: ResponsesEventFields): boolean =>
  type === "message" && role !== undefined && role !== null && role !== "assistant";

const onDelta = (kind: "text" | "thinking" | "call"): EventHandler => {
  const type = `${kind}-delta` as const;
  return (state, event) => {
    const text = stringOf(event["delta"]) ?? "";
    if (text === "") return [state, []];
    const at = findOpenItem(state.openItems, idOf(event["item_id"]), numberOf(event["output_index"]));
    const open = state.openItems[at];
    if (open === undefined) return onStray(state, event);
    if (open.kind === "other") return skip(state, shortName(event["type"]));
    if (open.kind !== kind) return fail(state, `A piece of ${kind} in an item that holds ${open.kind}.`);
    const place = kind === "text" ? (numberOf(event["content_index"]) ?? 0) : 0;
    const slot = open.slots.get(place);
    // A call without a name is not announced until its item ends.
    if (slot === undefined && kind === "call") return [state, []];
    if (slot === undefined && open.slots.size === maxOpenItems)
      return fail(state, `More than ${maxOpenItems} parts of an item are open at once.`);
    const index = slot?.index ?? state.partCount;
    const delta: ResponseEvent = { type, index, text };
    if (slot?.streamed === true) return [state, [delta]];
    const slots = new Map(open.slots).set(place, { index, streamed: true });
    const partCount = slot === undefined ? index + 1 : state.partCount;
    return [{ ...state, partCount, openItems: state.openItems.with(at, { ...open, slots }) }, [delta]];
  };
};

const onThinkingDelta = onDelta("thinking");

/** The parts of a summary are one thinking part, in paragraphs. */
const onSummaryPart: EventHandler = (state, event) =>
  (numberOf(event["summary_index"]) ?? 0) === 0 ? [state, []] : onThinkingDelta(state, { ...event, delta: "\n\n" });

/** Handles a delta without an open item: harmless after its item ended, a lost frame if the item never started. */
const onStray: EventHandler = (state, event) =>
  isPartOfEndedItem(state.endedItems, idOf(event["item_id"]), numberOf(event["output_index"]))
    ? skip(state, `${shortName(event["type"])} after its item`)
    : fail(state, `A piece of an item that never began: ${shortName(event["type"])}.`);

const onItemDone: EventHandler = (state, event) =>
  onItem(state, objectOf(event["item"]), numberOf(event["output_index"]));

/** Handles a finished item, whose content is final. An incomplete call is not emitted. */
const onItem = (
  state: ResponsesStreamState,
  item: ResponsesEventFields,
  place: number | undefined,
): StepResult<ResponsesStreamState> => {
  const key = itemKey(item, place);
  if (isEnded(state.endedItems, key, place)) return skip(state, `${shortName(item["type"])} again`);
  if (hasForeignRole(item)) return fail(state, `A message has the role ${shortName(item["role"])}.`);
  const id = idOf(item["id"]);
  const at = findOpenItem(state.openItems, id, place);
  const open = state.openItems[at];
  const next: ResponsesStreamState = {
    ...state,
    openItems: open === undefined ? state.openItems : state.openItems.toSpliced(at, 1),
    endedItems: addEndedItem(state.endedItems, { key, id, place }),
    hasRefused: state.hasRefused || isRefusal(item),
  };
  if (open !== undefined && open.kind !== itemKindOf(item))
    return fail(next, `An item that began as ${open.kind} ends as ${shortName(item["type"])}.`);
  if (itemKindOf(item) === "call" && item["status"] === "incomplete") return skip(next, "a call that was cut");
  return foldItems(next, itemContents(item), (now, content) =>
    onItemContent(now, content, open?.slots.get(content.slot)),
  );
};

const onItemContent = (
  state: ResponsesStreamState,
  content: ItemContent,
  slot: OpenItemPart | undefined,
): StepResult<ResponsesStreamState> => {
  if ("what" in content) return skip(state, content.what);
  const { part } = content;
  if (part.type === "text" && part.text === "")
    return slot === undefined ? [state, []] : fail(state, "A message ends without the words it streamed.");
  const index = slot?.index ?? state.partCount;
  const missingDeltas = slot?.streamed === true ? [] : deltas(part, index);
  const startEvents: readonly ResponseEvent[] =
    slot === undefined && part.type === "call"
      ? [{ type: "call-start", index, tool: part.tool, ...callIdOf(part.seal?.id) }, ...missingDeltas]
      : missingDeltas;
  return [
    {
      ...state,
      partCount: slot === undefined ? index + 1 : state.partCount,
      hasCalls: state.hasCalls || part.type === "call",
    },
    [...startEvents, { type: "part-end", index, part }],
  ];
};

/** Returns the delta that would have streamed a part. */
const deltas = (part: ResponsePart, index: number): readonly ResponseEvent[] => {
  if (part.type === "file" || part.type === "code") return [];
  const { type } = part;
  const text = type === "call" ? inputText(part.input) : part.text;
  return text === "" ? [] : [{ type: `${type}-delta`, index, text }];
};

const inputText = (input: { readonly text: string } | { readonly value: unknown }): string =>
  "text" in input ? input.text : (stringOf(objectOf(input.value)["input"]) ?? "");

const handlers: ReadonlyMap<string, EventHandler> = new Map([
  ["response.created", onCreated],
  ["response.queued", onCreated],
  ["response.in_progress", onCreated],
  ["response.output_item.added", onItemAdded],
  ["response.output_text.delta", onDelta("text")],
  ["response.refusal.delta", onDelta("text")],
  ["response.reasoning_summary_part.added", onSummaryPart],
  ["response.reasoning_summary_text.delta", onThinkingDelta],
  ["response.reasoning_text.delta", onThinkingDelta],
  ["response.function_call_arguments.delta", onDelta("call")],
  ["response.custom_tool_call_input.delta", onDelta("call")],
  ["response.output_item.done", onItemDone],
]);

/** Events whose content is repeated by their item. */
const ignoredEvents: ReadonlySet<string> = new Set([
  "[DONE]",
  "ping",
  "keepalive",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.done",
  "response.output_text.annotation.added",
  "response.refusal.done",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.done",
  "response.function_call_arguments.done",
  "response.custom_tool_call_input.done",
]);

const onUnknown = (
  state: ResponsesStreamState,
  type: string,
  event: ResponsesEventFields,
): StepResult<ResponsesStreamState> => {
  const apiError = type.startsWith("response.") ? undefined : parseApiError(event);
  return apiError === undefined ? skip(state, shortName(type)) : endWith(state, { type: "error", error: apiError });
};

const endEvents: ReadonlySet<string> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  "response.done",
]);

/** Handles the end. The response's status counts more than the name of the event. */
const onEnding = (
  state: ResponsesStreamState,
  type: string,
  response: ResponsesEventFields,
): StepResult<ResponsesStreamState> => {
  const named = type === "response.done" ? "completed" : type.slice("response.".length);
  const own = stringOf(response["status"]) ?? "";
  const status = endEvents.has(`response.${own}`) ? own : named;
  const reads = status === "failed" ? [onAnswering, onUsage] : [onAnswering, onRemainingItems(status), onUsage];
  const [rest, events] = foldItems(state, reads, (now, read) => read(now, response));
  if (rest.over) return [rest, events];
  const [last, more] = finishStream(rest, status, response);
  return [last, [...events, ...more]];
};

const onUsage: EventHandler = (state, response) => {
  const usage = responsesUsage(objectOf(response["usage"]));
  return [state, usage === undefined ? [] : [{ type: "usage", usage }]];
};

/** Handles items of the finished response that did not end before. */
const onRemainingItems =
  (status: string): EventHandler =>
  (state, { output }) => {
    const items = arrayOf(output);
    // Some servers give items new ids at the end; then nothing is missing.
    if (state.endedItems.count >= items.length) return [state, []];
    return foldItems(state, items.entries(), (now, [place, value]) => {
      const item = objectOf(value);
      if (includesItem(state.endedItems, itemKey(item, place))) return [now, []];
      const isCut = status !== "completed" && itemKindOf(item) === "call" && item["status"] !== "completed";
      return isCut ? skip(now, "a call that was cut") : onItem(now, item, place);
    });
  };

const finishStream = (
  state: ResponsesStreamState,
  status: string,
  response: ResponsesEventFields,
): StepResult<ResponsesStreamState> => {
  if (status === "failed")
    return endWith(state, {
      type: "error",
      error: parseApiError({ error: response["error"] }) ?? { message: "The server gave up on the answer." },
    });
  const cut = state.openItems.find(({ kind, slots }) => kind === "call" || (kind === "text" && slots.size > 0));
  if (cut !== undefined && status === "completed") return fail(state, `The answer ends inside a ${cut.kind}.`);
  const incompleteReason = stringOf(objectOf(response["incomplete_details"])["reason"]);
  const raw = (status === "incomplete" ? incompleteReason : undefined) ?? stringOf(response["status"]) ?? status;
  return endWith(state, { type: "finish", reason: reasonOf(state, status, incompleteReason), raw });
};

const reasonOf = (
  { hasCalls: called, hasRefused: refused }: ResponsesStreamState,
  status: string,
  incompleteReason: string | undefined,
): FinishReason => {
  if (status === "incomplete") return finishReasons.get(incompleteReason) ?? "other";
  if (status !== "completed") return "other";
  if (called) return "calls";
  return refused ? "refused" : "stop";
};

const finishReasons: ReadonlyMap<string | undefined, FinishReason> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "filtered"],
]);
