import type { Seal } from "../conversation/parts.ts";
import type { AnswerEvent, AnswerPart, FinishReason } from "./decode.ts";
import { breakOff, passOver, through, type Ending, type Told } from "./fold.ts";

/**
 * An answer that comes in numbered blocks, as Anthropic and Bedrock stream it.
 * Only what is still open is held; a part that ended has left.
 */
export type Blocks<Own> = Ending & {
  /** Whether the message has been announced. */
  readonly begun: boolean;
  readonly open: readonly Open[];
  /** The number of the next block to begin. */
  readonly next: number;
  /** How many parts have begun, and how many of them are calls. */
  readonly parts: number;
  readonly calls: number;
  /** The vendor's word for why the answer ended, once it has been said. */
  readonly stop: string | undefined;
  /** What else a family keeps in mind. */
  readonly own: Own;
};

/** What a block holds, besides the text that is growing in it. */
export type Draft =
  | { readonly type: "text" }
  | { readonly type: "thinking"; readonly signature: string; readonly encrypted: string }
  /** `given` are arguments that came whole. They count where none are streamed. */
  | { readonly type: "call"; readonly tool: string; readonly id: string; readonly given: unknown }
  | { readonly type: "file"; readonly mimeType: string }
  /** Something that has no place in a message. */
  | { readonly type: "ignored"; readonly what: string };

/** A piece of a block. `unknown` is one whose kind we do not know; its text says what it is. */
export type Piece = {
  readonly type: "text" | "thinking" | "signature" | "encrypted" | "call" | "file" | "unknown";
  readonly text: string;
};

/** A block as it begins, and the pieces that come with it. */
export type Beginning = { readonly draft: Draft; readonly pieces: readonly Piece[] };

type Open = { readonly at: number; readonly place: number; readonly text: string; readonly draft: Draft };

/** Before the first frame. */
export const noBlocks = <Own>(own: Own): Blocks<Own> => ({
  begun: false,
  open: [],
  next: 0,
  parts: 0,
  calls: 0,
  stop: undefined,
  over: false,
  own,
});

/** Blocks in which nothing stands yet. */
export const emptyText: Beginning = { draft: { type: "text" }, pieces: [] };
export const emptyThinking: Beginning = { draft: { type: "thinking", signature: "", encrypted: "" }, pieces: [] };

/** A block's number as the wire gives it; what is none matches no block. */
export const blockNumber = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : Number.NaN;

/**
 * Opens a block with the pieces that came along. One that began before is
 * passed over; one that skips a number means that something was lost.
 */
export const begin = <Own>(state: Blocks<Own>, at: number, { draft, pieces }: Beginning): Told<Blocks<Own>> => {
  if (at < state.next) return passOver(state, `block ${at}, begun twice`);
  if (at !== state.next) return breakOff(state, `Block ${at} begins where block ${state.next} should.`);
  if (state.open.length === mostOpen) return breakOff(state, `More than ${mostOpen} blocks are open at once.`);
  const index = state.parts;
  const isCall = draft.type === "call";
  const opened: Blocks<Own> = {
    ...state,
    open: [...state.open, { at, place: isCall ? index : unplaced, text: "", draft }],
    next: at + 1,
    ...(isCall ? { parts: index + 1, calls: state.calls + 1 } : {}),
  };
  if (draft.type === "ignored") return passOver(opened, draft.what);
  const started: readonly AnswerEvent[] = isCall ? [{ type: "call-start", index, tool: draft.tool }] : [];
  return after([opened, started], (now) => say(now, at, pieces));
};

/** Far more than any answer has, and few enough to look through. */
const mostOpen = 1000;

/** A part is numbered when it first says something, so that empty ones leave no gap. */
const unplaced = -1;

/** Adds pieces to an open block. */
export const say = <Own>(state: Blocks<Own>, at: number, pieces: readonly Piece[]): Told<Blocks<Own>> =>
  pieces.length === 1 ? sayOne(state, at, pieces[0]!) : through(state, pieces, (now, piece) => sayOne(now, at, piece));

const sayOne = <Own>(state: Blocks<Own>, at: number, piece: Piece): Told<Blocks<Own>> => {
  const found = placeOf(state, at);
  const open = state.open[found];
  if (open === undefined) return breakOff(state, `A piece of block ${at}, which is not open.`);
  if (open.draft.type === "ignored") return [state, []];
  if (piece.type === "unknown") return passOver(state, piece.text);
  if (piece.text === "") return [state, []];
  const isNew = open.place === unplaced;
  const place = isNew ? state.parts : open.place;
  const grown = withPiece(open, piece, place);
  if (grown === undefined)
    return breakOff(state, `A piece of ${piece.type} in block ${at}, which holds ${open.draft.type}.`);
  // Written out: this runs for every word, and a spread is ten times as slow.
  const { begun, next, calls, stop, over, own } = state;
  const all = state.open.length === 1 ? [grown] : state.open.with(found, grown);
  return [
    { begun, open: all, next, parts: isNew ? place + 1 : state.parts, calls, stop, over, own },
    deltas(piece, place),
  ];
};

/** Ends a block. */
export const end = <Own>(state: Blocks<Own>, at: number): Told<Blocks<Own>> => {
  const found = placeOf(state, at);
  const open = state.open[found];
  if (open !== undefined) return [{ ...state, open: state.open.toSpliced(found, 1) }, closing(open)];
  return at < state.next
    ? passOver(state, `block ${at}, ended twice`)
    : breakOff(state, `Block ${at} ends and never began.`);
};

/** The end of the answer. Blocks nobody closed end with it: some gateways never close them. */
export const finish = <Own>(state: Blocks<Own>, reasons: Readonly<Record<string, FinishReason>>): Told<Blocks<Own>> => {
  if (!state.begun && state.next === 0) return breakOff(state, "The answer ended before it began.");
  const reason = reasonFor(state, reasons);
  const raw = state.stop === undefined || state.stop === "" ? {} : { raw: state.stop };
  return [{ ...state, open: [], over: true }, [...state.open.flatMap(closing), { type: "finish", reason, ...raw }]];
};

/** One step and then another, as one. */
export const after = <Own>(
  [state, events]: Told<Blocks<Own>>,
  next: (state: Blocks<Own>) => Told<Blocks<Own>>,
): Told<Blocks<Own>> => {
  if (state.over) return [state, events];
  const [then, more] = next(state);
  return [then, [...events, ...more]];
};

const placeOf = <Own>({ open }: Blocks<Own>, at: number): number => {
  for (let place = open.length - 1; place >= 0; place--) if (open[place]?.at === at) return place;
  return -1;
};

/** The block with one more piece, or nothing where such a piece does not belong. */
const withPiece = ({ at, text, draft }: Open, piece: Piece, place: number): Open | undefined => {
  if (piece.type === draft.type) {
    const grown = draft.type === "file" ? afterComma(text, piece.text) : text + piece.text;
    return { at, place, text: grown, draft };
  }
  if (draft.type !== "thinking") return undefined;
  const { signature, encrypted } = draft;
  if (piece.type === "encrypted")
    return { at, place, text, draft: { ...draft, encrypted: afterComma(encrypted, piece.text) } };
  if (piece.type !== "signature") return undefined;
  // Some gateways say it at the start and again at the end.
  const whole = signature === piece.text ? signature : signature + piece.text;
  return { at, place, text, draft: { ...draft, signature: whole } };
};

const deltas = ({ type, text }: Piece, index: number): readonly AnswerEvent[] => {
  if (type === "text") return [{ type: "text-delta", index, text }];
  if (type === "thinking") return [{ type: "thinking-delta", index, text }];
  return type === "call" ? [{ type: "call-delta", index, text }] : [];
};

/** What is to be told when a block ends: nothing, if nothing stood in it. */
const closing = ({ place: index, text, draft }: Open): readonly AnswerEvent[] => {
  if (index === unplaced) return [];
  const ended = (part: AnswerPart): AnswerEvent => ({ type: "part-end", index, part });
  switch (draft.type) {
    case "ignored":
      return [];
    case "text":
      return [ended({ type: "text", text })];
    case "file":
      return [ended({ type: "file", mimeType: draft.mimeType, data: joined(text) })];
    case "thinking":
      return [ended({ type: "thinking", text, ...sealOf(draft) })];
    case "call": {
      const given = text === "" ? textOf(draft.given) : "";
      const { tool, id } = draft;
      const end = ended({ type: "call", tool, input: { text: text + given }, seal: { id } });
      return given === "" ? [end] : [{ type: "call-delta", index, text: given }, end];
    }
  }
};

const sealOf = ({ signature, encrypted }: Extract<Draft, { type: "thinking" }>): { readonly seal?: Seal } => {
  if (encrypted !== "") return { seal: { encrypted: joined(encrypted) } };
  return signature === "" ? {} : { seal: { signature } };
};

/** Arguments that came whole, as text; none at all are no text. */
const textOf = (given: unknown): string => {
  if (given === undefined || given === null) return "";
  if (typeof given === "string") return given;
  try {
    const text = JSON.stringify(given);
    return text === "{}" ? "" : text;
  } catch {
    return "arguments nested too deeply to be written down";
  }
};

const afterComma = (before: string, piece: string): string => (before === "" ? piece : `${before},${piece}`);

/** Base64 that came in pieces. Each piece may carry padding of its own, which must not stand in the middle. */
const joined = (pieces: string): string => {
  const all = pieces.split(",");
  if (!all.slice(0, -1).some((piece) => piece.endsWith("="))) return all.join("");
  try {
    return btoa(all.map((piece) => atob(piece)).join(""));
  } catch {
    return all.join("");
  }
};

const reasonFor = <Own>(
  { stop, calls }: Blocks<Own>,
  reasons: Readonly<Record<string, FinishReason>>,
): FinishReason => {
  const reason = stop === undefined || stop === "" ? "stop" : Object.hasOwn(reasons, stop) ? reasons[stop]! : "other";
  if (reason === "stop" && calls > 0) return "calls";
  return reason === "calls" && calls === 0 ? "other" : reason;
};
