import {
  decoding,
  type AnswerEvent,
  type AnswerPart,
  type Decode,
  type FinishReason,
  type Fold,
  type Frame,
} from "./decode.ts";
import { breakOff, passOver, shortWord, stopWith, through, type Told } from "./fold.ts";
import { heldIn, isRefusal, kindOf, responsesUsage, type Held } from "./openai-responses-items.ts";
import {
  hasEnded,
  isAmong,
  isLate,
  keyOf,
  noneEnded,
  openAt,
  withEnded,
  type Ended,
  type Open,
  type Slot,
} from "./openai-responses-open.ts";
import { problemOf } from "./problem.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "./reader.ts";

/**
 * How Responses answers. What is streamed is for show: a part is what its
 * finished item says, or, where a server streams no items, the finished response.
 */
export const decodeOpenaiResponses: Decode<unknown> = {
  open: () => decoding(fold),
  frames: (body) => [frameOf(body)],
  problem: problemOf,
};

type State = {
  /** How many parts have begun. */
  readonly begun: number;
  readonly open: readonly Open[];
  readonly ended: Ended;
  /** Number and type of the latest event: one that comes again is passed over. */
  readonly sequence: number;
  readonly type: string;
  readonly called: boolean;
  readonly refused: boolean;
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly over: boolean;
};

type Fields = Record<string, unknown>;

const fold: Fold<State> = {
  start: {
    begun: 0,
    open: [],
    ended: noneEnded,
    sequence: -1,
    type: "",
    called: false,
    refused: false,
    model: undefined,
    id: undefined,
    over: false,
  },
  step: (state, frame) => step(state, frame),
  end: () => [],
};

const frameOf = (body: unknown): Frame => {
  const { output, status } = objectOf(body);
  if (!Array.isArray(output)) return { name: "", data: body };
  const name = status === "queued" || status === "in_progress" ? "response.in_progress" : "response.completed";
  return { name, data: { type: name, response: body } };
};

const step = (state: State, { name, data }: Frame): Told<State> => {
  const event = objectOf(data);
  const type = stringOf(event["type"]) ?? name;
  if (quiet.has(type)) return [state, []];
  if (state.over) return passOver(state, `${shortWord(type)} after the end`);
  if (endings.has(type)) return onEnding(state, type, objectOf(event["response"]));
  const read = handlers.get(type);
  if (read === undefined) return onUnknown(state, type, event);
  const sequence = numberOf(event["sequence_number"]) ?? -1;
  if (sequence < 0) return read(state, event);
  // The type counts too: a server that numbers everything alike is not repeating itself.
  if (sequence < state.sequence || (sequence === state.sequence && type === state.type))
    return passOver(state, `${type} again`);
  return read({ ...state, sequence, type }, event);
};

type Handler = (state: State, event: Fields) => Told<State>;

const onBegun: Handler = (state, event) => onAnswering(state, objectOf(event["response"]));

const onAnswering: Handler = (state, response) => {
  const model = stringOf(response["model"]) ?? state.model;
  const id = stringOf(response["id"]) ?? state.id;
  if (model === state.model && id === state.id) return [state, []];
  const names = { ...(model === undefined ? {} : { model }), ...(id === undefined ? {} : { id }) };
  return [{ ...state, model, id }, [{ type: "answering", ...names }]];
};

/** Thoughts and calls are numbered here, words once there are any: a message may stay empty. */
const onItemAdded: Handler = (state, event) => {
  const item = objectOf(event["item"]);
  const [id, place, kind] = [idOf(item["id"]), numberOf(event["output_index"]), kindOf(item)];
  const isOpen = state.open.some((open) => open.id === id && (id !== "" || open.place === place));
  if (isOpen || hasEnded(state.ended, keyOf(item, place), place))
    return passOver(state, `${shortWord(item["type"])} again`);
  if (isSomebodyElses(item)) return breakOff(state, `A message has the role ${shortWord(item["role"])}.`);
  if (state.open.length === mostOpen) return breakOff(state, `More than ${mostOpen} items are open at once.`);
  const tool = stringOf(item["name"]) ?? "";
  const isCalled = kind === "call" && tool !== "";
  const isNumbered = isCalled || (kind === "thinking" && id !== "");
  const slots = new Map(isNumbered ? [[0, { index: state.begun, streamed: false }]] : []);
  const begun = isNumbered ? state.begun + 1 : state.begun;
  return [
    { ...state, begun, open: [...state.open, { id, place, kind, slots }] },
    isCalled ? [{ type: "call-start", index: state.begun, tool }] : [],
  ];
};

/** Far more than any answer has, and few enough to look through and to copy. */
const mostOpen = 1000;

const isSomebodyElses = ({ type, role }: Fields): boolean =>
  type === "message" && role !== undefined && role !== null && role !== "assistant";

const onDelta = (kind: "text" | "thinking" | "call"): Handler => {
  const type = `${kind}-delta` as const;
  return (state, event) => {
    const text = stringOf(event["delta"]) ?? "";
    if (text === "") return [state, []];
    const at = openAt(state.open, idOf(event["item_id"]), numberOf(event["output_index"]));
    const open = state.open[at];
    if (open === undefined) return onStray(state, event);
    if (open.kind === "other") return passOver(state, shortWord(event["type"]));
    if (open.kind !== kind) return breakOff(state, `A piece of ${kind} in an item that holds ${open.kind}.`);
    const place = kind === "text" ? (numberOf(event["content_index"]) ?? 0) : 0;
    const slot = open.slots.get(place);
    // A call without a name is not told of until its item ends.
    if (slot === undefined && kind === "call") return [state, []];
    if (slot === undefined && open.slots.size === mostOpen)
      return breakOff(state, `More than ${mostOpen} parts of an item are open at once.`);
    const index = slot?.index ?? state.begun;
    const said: AnswerEvent = { type, index, text };
    if (slot?.streamed === true) return [state, [said]];
    const slots = new Map(open.slots).set(place, { index, streamed: true });
    const begun = slot === undefined ? index + 1 : state.begun;
    return [{ ...state, begun, open: state.open.with(at, { ...open, slots }) }, [said]];
  };
};

const onThinkingDelta = onDelta("thinking");

/** The parts of a summary are one thought, in paragraphs. */
const onSummaryPart: Handler = (state, event) =>
  (numberOf(event["summary_index"]) ?? 0) === 0 ? [state, []] : onThinkingDelta(state, { ...event, delta: "\n\n" });

/** A piece that comes after its item does no harm; one of an item nobody heard of means that something was lost. */
const onStray: Handler = (state, event) =>
  isLate(state.ended, idOf(event["item_id"]), numberOf(event["output_index"]))
    ? passOver(state, `${shortWord(event["type"])} after its item`)
    : breakOff(state, `A piece of an item that never began: ${shortWord(event["type"])}.`);

const onItemDone: Handler = (state, event) => onItem(state, objectOf(event["item"]), numberOf(event["output_index"]));

/** A finished item: what it says is what counts. A call that was cut says so, and is not handed over. */
const onItem = (state: State, item: Fields, place: number | undefined): Told<State> => {
  const key = keyOf(item, place);
  if (hasEnded(state.ended, key, place)) return passOver(state, `${shortWord(item["type"])} again`);
  if (isSomebodyElses(item)) return breakOff(state, `A message has the role ${shortWord(item["role"])}.`);
  const id = idOf(item["id"]);
  const at = openAt(state.open, id, place);
  const open = state.open[at];
  const next: State = {
    ...state,
    open: open === undefined ? state.open : state.open.toSpliced(at, 1),
    ended: withEnded(state.ended, { key, id, place }),
    refused: state.refused || isRefusal(item),
  };
  if (open !== undefined && open.kind !== kindOf(item))
    return breakOff(next, `An item that began as ${open.kind} ends as ${shortWord(item["type"])}.`);
  if (kindOf(item) === "call" && item["status"] === "incomplete") return passOver(next, "a call that was cut");
  return through(next, heldIn(item), (now, held) => onHeld(now, held, open?.slots.get(held.slot)));
};

const onHeld = (state: State, held: Held, slot: Slot | undefined): Told<State> => {
  if ("what" in held) return passOver(state, held.what);
  const { part } = held;
  if (part.type === "text" && part.text === "")
    return slot === undefined ? [state, []] : breakOff(state, "A message ends without the words it streamed.");
  const index = slot?.index ?? state.begun;
  const unsaid = slot?.streamed === true ? [] : deltas(part, index);
  const begins: readonly AnswerEvent[] =
    slot === undefined && part.type === "call" ? [{ type: "call-start", index, tool: part.tool }, ...unsaid] : unsaid;
  return [
    { ...state, begun: slot === undefined ? index + 1 : state.begun, called: state.called || part.type === "call" },
    [...begins, { type: "part-end", index, part }],
  ];
};

/** What would have been streamed of a part, in one piece. */
const deltas = (part: AnswerPart, index: number): readonly AnswerEvent[] => {
  if (part.type === "file" || part.type === "code") return [];
  const { type } = part;
  const text = type === "call" ? inputText(part.input) : part.text;
  return text === "" ? [] : [{ type: `${type}-delta`, index, text }];
};

const inputText = (input: { readonly text: string } | { readonly value: unknown }): string =>
  "text" in input ? input.text : (stringOf(objectOf(input.value)["input"]) ?? "");

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["response.created", onBegun],
  ["response.queued", onBegun],
  ["response.in_progress", onBegun],
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

/** Events that say nothing their item will not say again. */
const quiet: ReadonlySet<string> = new Set([
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

const onUnknown = (state: State, type: string, event: Fields): Told<State> => {
  const problem = type.startsWith("response.") ? undefined : problemOf(event);
  return problem === undefined ? passOver(state, shortWord(type)) : stopWith(state, { type: "problem", problem });
};

const endings: ReadonlySet<string> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  "response.done",
]);

/** The response's own status counts more than the name of the event it comes in. */
const onEnding = (state: State, type: string, response: Fields): Told<State> => {
  const named = type === "response.done" ? "completed" : type.slice("response.".length);
  const own = stringOf(response["status"]) ?? "";
  const status = endings.has(`response.${own}`) ? own : named;
  const reads = status === "failed" ? [onAnswering, onUsage] : [onAnswering, onRest(status), onUsage];
  const [rest, events] = through(state, reads, (now, read) => read(now, response));
  if (rest.over) return [rest, events];
  const [last, more] = conclude(rest, status, response);
  return [last, [...events, ...more]];
};

const onUsage: Handler = (state, response) => {
  const usage = responsesUsage(objectOf(response["usage"]));
  return [state, usage === undefined ? [] : [{ type: "usage", usage }]];
};

/** Items of the finished response that were never seen to end. */
const onRest =
  (status: string): Handler =>
  (state, { output }) => {
    const items = arrayOf(output);
    // A server that gives items new ids at the end has nothing new to tell.
    if (state.ended.count >= items.length) return [state, []];
    return through(state, items.entries(), (now, [place, value]) => {
      const item = objectOf(value);
      if (isAmong(state.ended, keyOf(item, place))) return [now, []];
      const isCut = status !== "completed" && kindOf(item) === "call" && item["status"] !== "completed";
      return isCut ? passOver(now, "a call that was cut") : onItem(now, item, place);
    });
  };

const conclude = (state: State, status: string, response: Fields): Told<State> => {
  if (status === "failed")
    return stopWith(state, {
      type: "problem",
      problem: problemOf({ error: response["error"] }) ?? { message: "The server gave up on the answer." },
    });
  const cut = state.open.find(({ kind, slots }) => kind === "call" || (kind === "text" && slots.size > 0));
  if (cut !== undefined && status === "completed") return breakOff(state, `The answer ends inside a ${cut.kind}.`);
  const why = stringOf(objectOf(response["incomplete_details"])["reason"]);
  const raw = (status === "incomplete" ? why : undefined) ?? stringOf(response["status"]) ?? status;
  return stopWith(state, { type: "finish", reason: reasonOf(state, status, why), raw });
};

const reasonOf = ({ called, refused }: State, status: string, why: string | undefined): FinishReason => {
  if (status === "incomplete") return reasons.get(why) ?? "other";
  if (status !== "completed") return "other";
  if (called) return "calls";
  return refused ? "refused" : "stop";
};

const reasons: ReadonlyMap<string | undefined, FinishReason> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "filtered"],
]);
