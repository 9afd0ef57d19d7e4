import type { Seal } from "../../conversation/parts.ts";
import type { ResponseEvent, ResponsePart, FinishReason } from "./events.ts";
import { fail, skip, foldItems, type EndableState, type StepResult } from "./fold.ts";

/**
 * Decoder state of a response streamed in numbered blocks, as by Anthropic and Bedrock. Only open blocks are kept; a part
 * that ended was already emitted.
 */
export type BlockState<Own> = EndableState & {
  /** Whether the message start was received. */
  readonly isStarted: boolean;
  readonly openBlocks: readonly OpenBlock[];
  /** The index of the next block to start. */
  readonly nextBlock: number;
  /** How many parts have started, and how many of them are tool calls. */
  readonly partCount: number;
  readonly callCount: number;
  /** The vendor's finish reason, once received. */
  readonly stopReason: string | undefined;
  /** State that only one API family needs. */
  readonly familyState: Own;
};

/** The content of an open block besides its text. */
export type BlockDraft =
  | { readonly type: "text" }
  | { readonly type: "thinking"; readonly signature: string; readonly encrypted: string }
  /** `given` are arguments sent with the block start. They are used if none are streamed. */
  | { readonly type: "call"; readonly tool: string; readonly id: string; readonly given: unknown }
  | { readonly type: "file"; readonly mimeType: string }
  /** Content that a conversation cannot hold. */
  | { readonly type: "ignored"; readonly what: string };

/** A delta of a block. `unknown` is a delta of an unknown kind; its text names the kind. */
export type BlockDelta = {
  readonly type: "text" | "thinking" | "signature" | "encrypted" | "call" | "file" | "unknown";
  readonly text: string;
};

/** The start of a block, and the deltas that come with it. */
export type BlockStart = { readonly draft: BlockDraft; readonly deltas: readonly BlockDelta[] };

type OpenBlock = {
  readonly blockIndex: number;
  readonly partIndex: number;
  readonly text: string;
  readonly draft: BlockDraft;
};

/** The state before the first frame. */
export const initialBlockState = <Own>(familyState: Own): BlockState<Own> => ({
  isStarted: false,
  openBlocks: [],
  nextBlock: 0,
  partCount: 0,
  callCount: 0,
  stopReason: undefined,
  over: false,
  familyState,
});

/** Starts of empty blocks. */
export const emptyTextBlock: BlockStart = { draft: { type: "text" }, deltas: [] };
export const emptyThinkingBlock: BlockStart = { draft: { type: "thinking", signature: "", encrypted: "" }, deltas: [] };

/** Parses a block index; NaN, which matches no block, for anything else. */
export const parseBlockIndex = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : Number.NaN;

/**
 * Opens a block with the deltas that came with its start. A block that started before is skipped; a gap in the indexes
 * means that frames were lost and fails.
 */
export const startBlock = <Own>(
  state: BlockState<Own>,
  at: number,
  { draft, deltas: pieces }: BlockStart,
): StepResult<BlockState<Own>> => {
  if (at < state.nextBlock) return skip(state, `block ${at}, begun twice`);
  if (at !== state.nextBlock) return fail(state, `Block ${at} begins where block ${state.nextBlock} should.`);
  if (state.openBlocks.length === maxOpenBlocks)
    return fail(state, `More than ${maxOpenBlocks} blocks are open at once.`);
  const index = state.partCount;
  const isCall = draft.type === "call";
  const openedState: BlockState<Own> = {
    ...state,
    openBlocks: [...state.openBlocks, { blockIndex: at, partIndex: isCall ? index : unplaced, text: "", draft }],
    nextBlock: at + 1,
    ...(isCall ? { partCount: index + 1, callCount: state.callCount + 1 } : {}),
  };
  if (draft.type === "ignored") return skip(openedState, draft.what);
  const started: readonly ResponseEvent[] = isCall
    ? [{ type: "call-start", index, tool: draft.tool, ...(draft.id === "" ? {} : { id: draft.id }) }]
    : [];
  return chainStep([openedState, started], (now) => appendDeltas(now, at, pieces));
};

/** Far more than any response has, and few enough for a linear search. */
const maxOpenBlocks = 1000;

/** A part gets its index with its first delta, so that empty ones leave no gap. */
const unplaced = -1;

/** Appends deltas to an open block. */
export const appendDeltas = <Own>(
  state: BlockState<Own>,
  at: number,
  pieces: readonly BlockDelta[],
): StepResult<BlockState<Own>> =>
  pieces.length === 1
    ? appendDelta(state, at, pieces[0]!)
    : foldItems(state, pieces, (now, piece) => appendDelta(now, at, piece));

const appendDelta = <Own>(state: BlockState<Own>, at: number, piece: BlockDelta): StepResult<BlockState<Own>> => {
  const position = findOpenBlock(state, at);
  const open = state.openBlocks[position];
  if (open === undefined) return fail(state, `A piece of block ${at}, which is not open.`);
  if (open.draft.type === "ignored") return [state, []];
  if (piece.type === "unknown") return skip(state, piece.text);
  if (piece.text === "") return [state, []];
  const isNew = open.partIndex === unplaced;
  const partIndex = isNew ? state.partCount : open.partIndex;
  const extended = applyDelta(open, piece, partIndex);
  if (extended === undefined)
    return fail(state, `A piece of ${piece.type} in block ${at}, which holds ${open.draft.type}.`);
  // Written out: this runs for every token, and object spread is ten times slower.
  const { isStarted, nextBlock, callCount, stopReason, over, familyState } = state;
  const all = state.openBlocks.length === 1 ? [extended] : state.openBlocks.with(position, extended);
  return [
    {
      isStarted,
      openBlocks: all,
      nextBlock,
      partCount: isNew ? partIndex + 1 : state.partCount,
      callCount,
      stopReason,
      over,
      familyState,
    },
    deltaEvents(piece, partIndex),
  ];
};

/** Ends a block. */
export const endBlock = <Own>(state: BlockState<Own>, at: number): StepResult<BlockState<Own>> => {
  const position = findOpenBlock(state, at);
  const open = state.openBlocks[position];
  if (open !== undefined) return [{ ...state, openBlocks: state.openBlocks.toSpliced(position, 1) }, endEvents(open)];
  return at < state.nextBlock
    ? skip(state, `block ${at}, ended twice`)
    : fail(state, `Block ${at} ends and never began.`);
};

/** Finishes the response. Open blocks are ended with it: some gateways never close them. */
export const finishResponse = <Own>(
  state: BlockState<Own>,
  reasons: Readonly<Record<string, FinishReason>>,
): StepResult<BlockState<Own>> => {
  if (!state.isStarted && state.nextBlock === 0) return fail(state, "The answer ended before it began.");
  const reason = finishReasonFor(state, reasons);
  const raw = state.stopReason === undefined || state.stopReason === "" ? {} : { raw: state.stopReason };
  return [
    { ...state, openBlocks: [], over: true },
    [...state.openBlocks.flatMap(endEvents), { type: "finish", reason, ...raw }],
  ];
};

/** Runs another step after a step, unless the stream has ended. */
export const chainStep = <Own>(
  [state, events]: StepResult<BlockState<Own>>,
  next: (state: BlockState<Own>) => StepResult<BlockState<Own>>,
): StepResult<BlockState<Own>> => {
  if (state.over) return [state, events];
  const [then, more] = next(state);
  return [then, [...events, ...more]];
};

const findOpenBlock = <Own>({ openBlocks: open }: BlockState<Own>, at: number): number => {
  for (let position = open.length - 1; position >= 0; position--)
    if (open[position]?.blockIndex === at) return position;
  return -1;
};

/** Returns the block with one more delta; undefined if such a delta does not belong in it. */
const applyDelta = (
  { blockIndex: at, text, draft }: OpenBlock,
  piece: BlockDelta,
  partIndex: number,
): OpenBlock | undefined => {
  if (piece.type === draft.type) {
    const extended = draft.type === "file" ? appendWithComma(text, piece.text) : text + piece.text;
    return { blockIndex: at, partIndex, text: extended, draft };
  }
  if (draft.type !== "thinking") return undefined;
  const { signature, encrypted } = draft;
  if (piece.type === "encrypted")
    return {
      blockIndex: at,
      partIndex,
      text,
      draft: { ...draft, encrypted: appendWithComma(encrypted, piece.text) },
    };
  if (piece.type !== "signature") return undefined;
  // Some gateways send it at the start and again at the end.
  const complete = signature === piece.text ? signature : signature + piece.text;
  return { blockIndex: at, partIndex, text, draft: { ...draft, signature: complete } };
};

const deltaEvents = ({ type, text }: BlockDelta, index: number): readonly ResponseEvent[] => {
  if (type === "text") return [{ type: "text-delta", index, text }];
  if (type === "thinking") return [{ type: "thinking-delta", index, text }];
  return type === "call" ? [{ type: "call-delta", index, text }] : [];
};

/** Returns the events for the end of a block: none if it was empty. */
const endEvents = ({ partIndex: index, text, draft }: OpenBlock): readonly ResponseEvent[] => {
  if (index === unplaced) return [];
  const ended = (part: ResponsePart): ResponseEvent => ({ type: "part-end", index, part });
  switch (draft.type) {
    case "ignored":
      return [];
    case "text":
      return [ended({ type: "text", text })];
    case "file":
      return [ended({ type: "file", mimeType: draft.mimeType, data: joinBase64(text) })];
    case "thinking":
      return [ended({ type: "thinking", text, ...sealOf(draft) })];
    case "call": {
      const given = text === "" ? argumentText(draft.given) : "";
      const { tool, id } = draft;
      const end = ended({ type: "call", tool, input: { text: text + given }, seal: { id } });
      return given === "" ? [end] : [{ type: "call-delta", index, text: given }, end];
    }
  }
};

const sealOf = ({ signature, encrypted }: Extract<BlockDraft, { type: "thinking" }>): { readonly seal?: Seal } => {
  if (encrypted !== "") return { seal: { encrypted: joinBase64(encrypted) } };
  return signature === "" ? {} : { seal: { signature } };
};

/** Returns complete arguments as JSON text; "" for empty ones. */
const argumentText = (given: unknown): string => {
  if (given === undefined || given === null) return "";
  if (typeof given === "string") return given;
  try {
    const text = JSON.stringify(given);
    return text === "{}" ? "" : text;
  } catch {
    return "arguments nested too deeply to be written down";
  }
};

const appendWithComma = (before: string, piece: string): string => (before === "" ? piece : `${before},${piece}`);

/** Joins base64 chunks. Each chunk may have its own padding, which must not end up in the middle. */
const joinBase64 = (pieces: string): string => {
  const all = pieces.split(",");
  if (!all.slice(0, -1).some((piece) => piece.endsWith("="))) return all.join("");
  try {
    return btoa(all.map((piece) => atob(piece)).join(""));
  } catch {
    return all.join("");
  }
};

const finishReasonFor = <Own>(
  { stopReason, callCount }: BlockState<Own>,
  reasons: Readonly<Record<string, FinishReason>>,
): FinishReason => {
  const reason =
    stopReason === undefined || stopReason === ""
      ? "stop"
      : Object.hasOwn(reasons, stopReason)
        ? reasons[stopReason]!
        : "other";
  if (reason === "stop" && callCount > 0) return "calls";
  return reason === "calls" && callCount === 0 ? "other" : reason;
};
