import { isObject } from "../../conversation/json.ts";
import type { ResponseEvent, GeneratedFile } from "../decode/events.ts";
import { fail, skip, shortName, foldItems, type StepResult } from "../decode/fold.ts";
import {
  startCall,
  matchCall,
  parseCallDeltas,
  callDeltaEvents,
  extendCall,
  isEmptyDelta,
  type CallDelta,
  type OpenCall,
} from "./decode-calls.ts";
import { parseThinkingChunk, reasoningOf, thinkingPart, mergeDetails, type OpenThinking } from "./decode-thinking.ts";
import type { ChatDialect } from "./encode.ts";
import { toList } from "../openai/read.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";

/** Decoder state of a response: only what is still open. */
export type ChatStreamState = {
  readonly dialect: ChatDialect;
  readonly over: boolean;
  /** Whether a choice was received. */
  readonly hasStarted: boolean;
  readonly isAnnounced: boolean;
  /** The index of the next part. */
  readonly nextPart: number;
  readonly openThinking: OpenThinking | undefined;
  readonly openText: ChatOpenText | undefined;
  readonly calls: readonly OpenCall[];
  readonly hasRefused: boolean;
  /** The vendor's finish reason. */
  readonly raw: string | undefined;
};

/** Text that may still grow. */
type ChatOpenText = { readonly index: number; readonly text: string; readonly isRefusal: boolean };

/** Handles some fields of a delta. */
type DeltaHandler = (state: ChatStreamState, delta: Record<string, unknown>) => StepResult<ChatStreamState>;

/** Returns the state before the first frame. */
export const initialState = (dialect: ChatDialect): ChatStreamState => ({
  dialect,
  over: false,
  hasStarted: false,
  isAnnounced: false,
  nextPart: firstPartIndex(dialect),
  openThinking: undefined,
  openText: undefined,
  calls: [],
  hasRefused: false,
  raw: undefined,
});

/** Whether no content was received yet. */
export const hasNoContent = ({ dialect, nextPart, openThinking }: ChatStreamState): boolean =>
  openThinking === undefined && nextPart === firstPartIndex(dialect);

/**
 * Where reasoning details are sent back, all reasoning of a response is one part in front, with an index reserved for it:
 * details may arrive after the calls they belong to.
 */
const hasLeadingThinking = ({ reasoning }: ChatDialect): boolean => reasoning === "reasoning_details";

const firstPartIndex = (dialect: ChatDialect): number => (hasLeadingThinking(dialect) ? 1 : 0);

/** Handles a delta. Within one, thinking comes before text, and text before calls. */
export const onDelta: DeltaHandler = (state, delta) => {
  const { role } = delta;
  if (typeof role === "string" && role !== "" && role !== "assistant")
    return fail(state, `The answer speaks as ${shortName(role)}.`);
  return foldItems(state, handlers, (now, handle) => handle(now, delta));
};

const onReasoning: DeltaHandler = (state, delta) => {
  const text = reasoningOf(delta);
  if (text === undefined) return [state, []];
  const details = delta["reasoning_details"];
  const isEmpty = text === "" && arrayOf(details).length === 0;
  // Empty reasoning means something to some servers, but only at the start.
  if (isEmpty && state.openThinking === undefined && !hasNoContent(state)) return [state, []];
  return appendThinking(state, Array.isArray(details) ? { text, details } : { text });
};

/** Appends to the open thinking, or opens one. */
const appendThinking = (state: ChatStreamState, piece: Omit<OpenThinking, "index">): StepResult<ChatStreamState> => {
  const [opened, openThinking, ends] = withOpenThinking(state);
  const { dialect } = state;
  const text = newTextOf(dialect, openThinking.text, piece.text);
  const events: readonly ResponseEvent[] =
    text === "" ? ends : [...ends, { type: "thinking-delta", index: openThinking.index, text }];
  const whole = { ...openThinking, ...piece, text: openThinking.text + text };
  if (piece.details === undefined) return [{ ...opened, openThinking: whole }, events];
  const details = mergeDetails(openThinking.details ?? [], piece.details, (previous, more) =>
    newTextOf(dialect, previous, more),
  );
  if (isDeep(piece.details) || details.length > maxItems) return fail(state, "The reasoning details have no end.");
  return [{ ...opened, openThinking: { ...whole, details } }, events];
};

/** Returns the open thinking, or a new one with the events that end what was open. A signature closes what it signs. */
const withOpenThinking = (
  state: ChatStreamState,
): readonly [ChatStreamState, OpenThinking, readonly ResponseEvent[]] => {
  const { openThinking, dialect } = state;
  if (openThinking !== undefined && (openThinking.signature === undefined || hasLeadingThinking(dialect)))
    return [state, openThinking, []];
  if (hasLeadingThinking(dialect)) return [state, { index: 0, text: "" }, []];
  const [ended, events] = endOpenParts(state);
  const { nextPart: index } = ended;
  return [{ ...ended, nextPart: index + 1 }, { index, text: "" }, events];
};

/**
 * Returns the new text of a piece. Servers that repeat begin a piece with all previous text; short text may also occur
 * twice without being repeated.
 */
const newTextOf = ({ repeatsText }: ChatDialect, previous: string, piece: string): string => {
  if (!repeatsText || piece.length < previous.length || previous === "" || !piece.startsWith(previous)) return piece;
  return piece.length > previous.length || previous.length >= 20 ? piece.slice(previous.length) : piece;
};

const onContent: DeltaHandler = (state, { content }) =>
  typeof content === "string"
    ? appendText(state, { text: content, isRefusal: false })
    : foldItems(state, toList(content), onPart);

const onPart = (state: ChatStreamState, value: unknown): StepResult<ChatStreamState> => {
  const part: Record<string, unknown> = typeof value === "string" ? { text: value } : objectOf(value);
  const type = part["type"] ?? (typeof part["text"] === "string" ? "text" : undefined);
  switch (type) {
    case "text":
    case "output_text":
      return appendText(state, { text: stringOf(part["text"]) ?? "", isRefusal: false });
    case "refusal":
      return onRefusal(state, part);
    case "thinking":
      return onThinkingChunk(state, part);
    case "image_url":
      return onFile(state, part);
    default:
      return skip(state, `a part of type ${shortName(type)}`);
  }
};

const onThinkingChunk: DeltaHandler = (state, chunk) => {
  const piece = parseThinkingChunk(chunk);
  return piece.text === "" && piece.signature === undefined ? [state, []] : appendThinking(state, piece);
};

const onImages: DeltaHandler = (state, { images }) =>
  foldItems(state, arrayOf(images), (now, image) => onFile(now, objectOf(image)));

const onFile: DeltaHandler = (state, part) => {
  const file = fileOf(part["image_url"]);
  if (file === undefined) return skip(state, "a file without its bytes");
  const [{ nextPart: index, ...rest }, events] = endOpenParts(state);
  return [{ ...rest, nextPart: index + 1 }, [...events, { type: "part-end", index, part: file }]];
};

const fileOf = (image: unknown): GeneratedFile | undefined => {
  const address = stringOf(image) ?? stringOf(objectOf(image)["url"]) ?? "";
  const head = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(address);
  if (head === null || !head[2]!.endsWith(";base64")) return undefined;
  return { type: "file", mimeType: head[1] === "" ? "image/png" : head[1]!, data: address.slice(head[0].length) };
};

const onRefusal: DeltaHandler = (state, { refusal }) =>
  appendText(state, { text: stringOf(refusal) ?? "", isRefusal: true });

/** Appends to the open text, or opens one. */
const appendText = (
  state: ChatStreamState,
  { text, isRefusal }: Omit<ChatOpenText, "index">,
): StepResult<ChatStreamState> => {
  if (text === "") return [state, []];
  const { openText } = state;
  if (openText !== undefined && openText.isRefusal === isRefusal) {
    const more = newTextOf(state.dialect, openText.text, text);
    const emitted: readonly ResponseEvent[] =
      more === "" ? [] : [{ type: "text-delta", index: openText.index, text: more }];
    return [withOpenText(state, { index: openText.index, text: openText.text + more, isRefusal }), emitted];
  }
  const [{ nextPart: index, ...rest }, events] = endOpenParts(state);
  const hasRefused = rest.hasRefused || isRefusal;
  return [
    { ...rest, nextPart: index + 1, openText: { index, text, isRefusal }, hasRefused },
    [...events, { type: "text-delta", index, text }],
  ];
};

/** Written out: this runs for every token, and object spread is ten times slower. */
const withOpenText = (state: ChatStreamState, openText: ChatOpenText): ChatStreamState => {
  const { dialect, over, hasStarted: isHeard, isAnnounced, nextPart, openThinking, calls, hasRefused, raw } = state;
  return {
    dialect,
    over,
    hasStarted: isHeard,
    isAnnounced,
    nextPart,
    openThinking,
    openText,
    calls,
    hasRefused,
    raw,
  };
};

const onCalls: DeltaHandler = (state, delta) => {
  const earlier = state.calls;
  return foldItems(state, parseCallDeltas(delta), (now, piece) => onCall(now, piece, earlier));
};

const onCall = (
  state: ChatStreamState,
  piece: CallDelta,
  earlier: readonly OpenCall[],
): StepResult<ChatStreamState> => {
  if (isEmptyDelta(piece)) return [state, []];
  if (isDeep(piece.value)) return fail(state, "The arguments of a call have no end.");
  const found = matchCall(state.calls, piece, earlier);
  if (found === "stray") return fail(state, "There are arguments for a call that never began.");
  if (found === "repeat") return skip(state, "a call once more");
  const [opened, events] = found === "new" ? endOpenParts(state) : [state, []];
  const before = typeof found === "number" ? opened.calls[found]! : startCall(opened.nextPart, piece);
  const after = extendCall(before, piece);
  const emitted = [...events, ...callDeltaEvents(before, after, piece)];
  if (typeof found === "number") return [{ ...opened, calls: opened.calls.with(found, after) }, emitted];
  if (opened.calls.length === maxItems) return fail(state, "The calls have no end.");
  return [{ ...opened, nextPart: opened.nextPart + 1, calls: [...opened.calls, after] }, emitted];
};

/** Far more calls, or reasoning details, than any response has. */
const maxItems = 1000;

/** Whether a value is nested deeper than any real one. */
const isDeep = (value: unknown, levels = 100): boolean => {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1));
};

/** Ends the open text and thinking, except thinking in front. */
const endOpenParts = (state: ChatStreamState): StepResult<ChatStreamState> => {
  const { openThinking, openText, dialect } = state;
  if (openThinking === undefined && openText === undefined) return [state, []];
  const kept = hasLeadingThinking(dialect) ? openThinking : undefined;
  const ends = [...(kept === undefined ? thinkingEndEvents(openThinking) : []), ...textEndEvents(openText)];
  return [{ ...state, openThinking: kept, openText: undefined }, ends];
};

/** Returns the end event of thinking, if there is any. */
export const thinkingEndEvents = (openThinking: OpenThinking | undefined): readonly ResponseEvent[] =>
  openThinking === undefined ? [] : [{ type: "part-end", index: openThinking.index, part: thinkingPart(openThinking) }];

/** Returns the end event of text, if there is any. */
export const textEndEvents = (openText: ChatOpenText | undefined): readonly ResponseEvent[] =>
  openText === undefined
    ? []
    : [{ type: "part-end", index: openText.index, part: { type: "text", text: openText.text } }];

const onOthers: DeltaHandler = (state, delta) => {
  const others = Object.keys(delta).filter((field) => !knownDeltaFields.has(field) && hasSubstance(delta[field]));
  return foldItems(state, others, (now, field) => skip(now, shortName(field)));
};

const knownDeltaFields: ReadonlySet<string> = new Set([
  "role",
  "name",
  "channel",
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "images",
  "tool_calls",
  "function_call",
]);

const handlers: readonly DeltaHandler[] = [onReasoning, onContent, onImages, onRefusal, onCalls, onOthers];

/** Whether a value is not empty; some servers send every field they have. */
export const hasSubstance = (value: unknown): boolean =>
  isObject(value) ? Object.values(value).some(isFilled) : isFilled(value);

const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));
