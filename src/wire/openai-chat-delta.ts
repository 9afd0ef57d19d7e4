import { isObject } from "../conversation/json.ts";
import type { AnswerEvent, NewFile } from "./decode.ts";
import { breakOff, passOver, shortWord, through, type Told } from "./fold.ts";
import {
  begunCall,
  callOf,
  callPieces,
  growth,
  grown,
  saysNothing,
  type CallPiece,
  type OpenCall,
} from "./openai-chat-calls.ts";
import { chunkThought, reasoningOf, thinkingPart, withDetails, type Thought } from "./openai-chat-thought.ts";
import type { ChatDialect } from "./openai-chat.ts";
import { listOf } from "./openai-read.ts";
import { arrayOf, objectOf, stringOf } from "./reader.ts";

/** How far the reading of an answer has come: what is open, and nothing that has ended. */
export type State = {
  readonly dialect: ChatDialect;
  readonly over: boolean;
  /** Whether there was an answer at all. */
  readonly isHeard: boolean;
  readonly isAnnounced: boolean;
  /** The place of the next part. */
  readonly next: number;
  readonly thought: Thought | undefined;
  readonly words: Words | undefined;
  readonly calls: readonly OpenCall[];
  readonly hasRefused: boolean;
  /** The vendor's word for why it stopped. */
  readonly raw: string | undefined;
};

/** Words that may still be arriving. */
type Words = { readonly index: number; readonly text: string; readonly isRefusal: boolean };

/** Takes what it knows from a delta. */
type Handler = (state: State, delta: Record<string, unknown>) => Told<State>;

/** Before the first frame. */
export const start = (dialect: ChatDialect): State => ({
  dialect,
  over: false,
  isHeard: false,
  isAnnounced: false,
  next: firstPlace(dialect),
  thought: undefined,
  words: undefined,
  calls: [],
  hasRefused: false,
  raw: undefined,
});

/** Whether nothing was said yet. */
export const isSilent = ({ dialect, next, thought }: State): boolean =>
  thought === undefined && next === firstPlace(dialect);

/**
 * Where details go back, all reasoning of an answer is one part in front, with
 * a place kept for it: details may come after the very calls they belong to.
 */
const hasFront = ({ reasoning }: ChatDialect): boolean => reasoning === "reasoning_details";

const firstPlace = (dialect: ChatDialect): number => (hasFront(dialect) ? 1 : 0);

/** Takes everything a delta brings. Within one, thinking comes before words, and words before calls. */
export const onDelta: Handler = (state, delta) => {
  const { role } = delta;
  if (typeof role === "string" && role !== "" && role !== "assistant")
    return breakOff(state, `The answer speaks as ${shortWord(role)}.`);
  return through(state, handlers, (now, handle) => handle(now, delta));
};

const onReasoning: Handler = (state, delta) => {
  const text = reasoningOf(delta);
  if (text === undefined) return [state, []];
  const details = delta["reasoning_details"];
  const isEmpty = text === "" && arrayOf(details).length === 0;
  // An empty thought means something to some servers, but only in front.
  if (isEmpty && state.thought === undefined && !isSilent(state)) return [state, []];
  return think(state, Array.isArray(details) ? { text, details } : { text });
};

/** The thought that is open goes on, or one begins. */
const think = (state: State, piece: Omit<Thought, "index">): Told<State> => {
  const [open, thought, ends] = withThought(state);
  const { dialect } = state;
  const text = fresh(dialect, thought.text, piece.text);
  const events: readonly AnswerEvent[] =
    text === "" ? ends : [...ends, { type: "thinking-delta", index: thought.index, text }];
  const whole = { ...thought, ...piece, text: thought.text + text };
  if (piece.details === undefined) return [{ ...open, thought: whole }, events];
  const details = withDetails(thought.details ?? [], piece.details, (said, more) => fresh(dialect, said, more));
  if (isDeep(piece.details) || details.length > most) return breakOff(state, "The reasoning details have no end.");
  return [{ ...open, thought: { ...whole, details } }, events];
};

/** The thought that more can be added to, and what has to end before one begins. A signature closes what it signs. */
const withThought = (state: State): readonly [State, Thought, readonly AnswerEvent[]] => {
  const { thought, dialect } = state;
  if (thought !== undefined && (thought.signature === undefined || hasFront(dialect))) return [state, thought, []];
  if (hasFront(dialect)) return [state, { index: 0, text: "" }, []];
  const [settledState, events] = settled(state);
  const { next: index } = settledState;
  return [{ ...settledState, next: index + 1 }, { index, text: "" }, events];
};

/**
 * What a piece adds. Servers that restate begin a piece with all that was said
 * before; short words are also said twice without being restated.
 */
const fresh = ({ restates }: ChatDialect, said: string, piece: string): string => {
  if (!restates || piece.length < said.length || said === "" || !piece.startsWith(said)) return piece;
  return piece.length > said.length || said.length >= 20 ? piece.slice(said.length) : piece;
};

const onContent: Handler = (state, { content }) =>
  typeof content === "string"
    ? say(state, { text: content, isRefusal: false })
    : through(state, listOf(content), onPart);

const onPart = (state: State, value: unknown): Told<State> => {
  const part: Record<string, unknown> = typeof value === "string" ? { text: value } : objectOf(value);
  const type = part["type"] ?? (typeof part["text"] === "string" ? "text" : undefined);
  switch (type) {
    case "text":
    case "output_text":
      return say(state, { text: stringOf(part["text"]) ?? "", isRefusal: false });
    case "refusal":
      return onRefusal(state, part);
    case "thinking":
      return onThinkingChunk(state, part);
    case "image_url":
      return onFile(state, part);
    default:
      return passOver(state, `a part of type ${shortWord(type)}`);
  }
};

const onThinkingChunk: Handler = (state, chunk) => {
  const piece = chunkThought(chunk);
  return piece.text === "" && piece.signature === undefined ? [state, []] : think(state, piece);
};

const onImages: Handler = (state, { images }) =>
  through(state, arrayOf(images), (now, image) => onFile(now, objectOf(image)));

const onFile: Handler = (state, part) => {
  const file = fileOf(part["image_url"]);
  if (file === undefined) return passOver(state, "a file without its bytes");
  const [{ next: index, ...rest }, events] = settled(state);
  return [{ ...rest, next: index + 1 }, [...events, { type: "part-end", index, part: file }]];
};

const fileOf = (image: unknown): NewFile | undefined => {
  const address = stringOf(image) ?? stringOf(objectOf(image)["url"]) ?? "";
  const head = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(address);
  if (head === null || !head[2]!.endsWith(";base64")) return undefined;
  return { type: "file", mimeType: head[1] === "" ? "image/png" : head[1]!, data: address.slice(head[0].length) };
};

const onRefusal: Handler = (state, { refusal }) => say(state, { text: stringOf(refusal) ?? "", isRefusal: true });

/** Words go on, or begin. */
const say = (state: State, { text, isRefusal }: Omit<Words, "index">): Told<State> => {
  if (text === "") return [state, []];
  const { words } = state;
  if (words !== undefined && words.isRefusal === isRefusal) {
    const more = fresh(state.dialect, words.text, text);
    const told: readonly AnswerEvent[] = more === "" ? [] : [{ type: "text-delta", index: words.index, text: more }];
    return [withWords(state, { index: words.index, text: words.text + more, isRefusal }), told];
  }
  const [{ next: index, ...rest }, events] = settled(state);
  const hasRefused = rest.hasRefused || isRefusal;
  return [
    { ...rest, next: index + 1, words: { index, text, isRefusal }, hasRefused },
    [...events, { type: "text-delta", index, text }],
  ];
};

/** Written out: this runs for every word, and a spread is ten times as slow. */
const withWords = (state: State, words: Words): State => {
  const { dialect, over, isHeard, isAnnounced, next, thought, calls, hasRefused, raw } = state;
  return { dialect, over, isHeard, isAnnounced, next, thought, words, calls, hasRefused, raw };
};

const onCalls: Handler = (state, delta) => {
  const earlier = state.calls;
  return through(state, callPieces(delta), (now, piece) => onCall(now, piece, earlier));
};

const onCall = (state: State, piece: CallPiece, earlier: readonly OpenCall[]): Told<State> => {
  if (saysNothing(piece)) return [state, []];
  if (isDeep(piece.value)) return breakOff(state, "The arguments of a call have no end.");
  const found = callOf(state.calls, piece, earlier);
  if (found === "stray") return breakOff(state, "There are arguments for a call that never began.");
  if (found === "again") return passOver(state, "a call once more");
  const [open, events] = found === "new" ? settled(state) : [state, []];
  const before = typeof found === "number" ? open.calls[found]! : begunCall(open.next, piece);
  const after = grown(before, piece);
  const told = [...events, ...growth(before, after, piece)];
  if (typeof found === "number") return [{ ...open, calls: open.calls.with(found, after) }, told];
  if (open.calls.length === most) return breakOff(state, "The calls have no end.");
  return [{ ...open, next: open.next + 1, calls: [...open.calls, after] }, told];
};

/** Far more calls, or reasoning details, than any answer has. */
const most = 1000;

/** Whether a value is nested deeper than anything a vendor means. */
const isDeep = (value: unknown, levels = 100): boolean => {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1));
};

/** The same with what was being said brought to its end, but for a thought in front. */
const settled = (state: State): Told<State> => {
  const { thought, words, dialect } = state;
  if (thought === undefined && words === undefined) return [state, []];
  const kept = hasFront(dialect) ? thought : undefined;
  const ends = [...(kept === undefined ? thoughtEnd(thought) : []), ...wordsEnd(words)];
  return [{ ...state, thought: kept, words: undefined }, ends];
};

/** The end of a thought, if there is one. */
export const thoughtEnd = (thought: Thought | undefined): readonly AnswerEvent[] =>
  thought === undefined ? [] : [{ type: "part-end", index: thought.index, part: thinkingPart(thought) }];

/** The end of words, if there are any. */
export const wordsEnd = (words: Words | undefined): readonly AnswerEvent[] =>
  words === undefined ? [] : [{ type: "part-end", index: words.index, part: { type: "text", text: words.text } }];

const onOthers: Handler = (state, delta) => {
  const others = Object.keys(delta).filter((field) => !known.has(field) && hasSubstance(delta[field]));
  return through(state, others, (now, field) => passOver(now, shortWord(field)));
};

const known: ReadonlySet<string> = new Set([
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

const handlers: readonly Handler[] = [onReasoning, onContent, onImages, onRefusal, onCalls, onOthers];

/** Whether a value says anything; some servers write out every field they have. */
export const hasSubstance = (value: unknown): boolean =>
  isObject(value) ? Object.values(value).some(isFilled) : isFilled(value);

const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));
