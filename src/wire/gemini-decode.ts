import { isObject } from "../conversation/json.ts";
import type { Code, Seal } from "../conversation/parts.ts";
import { decoding, type AnswerEvent, type Decode, type FinishReason, type Fold } from "./decode.ts";
import { breakOff, passOver, shortWord, stopWith, through, type Told } from "./fold.ts";
import { argumentsOf, piecesIn, type Piece, type Pieces } from "./gemini-arguments.ts";
import { geminiUsage } from "./gemini-usage.ts";
import { problemOf } from "./problem.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "./reader.ts";

/**
 * How generateContent answers, with or without the Code Assist envelope. Tokens
 * may be counted after the reason to stop is given, so an answer finishes with its stream.
 */
export const decodeGemini: Decode<unknown> = {
  open: () => decoding(fold),
  frames: (body) => (Array.isArray(body) ? body : [body]).map((data: unknown) => ({ name: "", data })),
  problem: problemOf,
};

type State = {
  /** How many parts have begun. */
  readonly begun: number;
  /** Words without a signature, which the next chunk may continue. */
  readonly words: Words | undefined;
  /** A call whose arguments come in pieces. */
  readonly call: OpenCall | undefined;
  readonly called: boolean;
  /** The latest whole calls that had ids: a server's network may deliver a chunk twice. */
  readonly heard: readonly string[];
  readonly finish: Finish | undefined;
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly over: boolean;
};

type Fields = Record<string, unknown>;
type Words = { readonly index: number; readonly type: "text" | "thinking"; readonly text: string };
type OpenCall = {
  readonly index: number;
  readonly tool: string;
  readonly id: string;
  readonly signature: string | undefined;
  readonly args: unknown;
  readonly pieces: Pieces;
};
type Finish = { readonly reason: FinishReason; readonly raw: string };

const fold: Fold<State> = {
  start: {
    begun: 0,
    words: undefined,
    call: undefined,
    called: false,
    heard: [],
    finish: undefined,
    model: undefined,
    id: undefined,
    over: false,
  },
  step: (state, { data }) => {
    if (state.over) return passOver(state, "a frame after the end");
    const chunk = isObject(data) && isObject(data["response"]) ? data["response"] : objectOf(data);
    const isAnswer = known.some((field) => typeof chunk[field] === "object" && chunk[field] !== null);
    const problem = isObject(data) && (!isAnswer || isObject(data["error"])) ? problemOf(data) : undefined;
    if (problem !== undefined) return stopWith(state, { type: "problem", problem });
    if (!isAnswer) return passOver(state, `a frame with ${shortWord(Object.keys(chunk)[0])}`);
    return through(state, [onAnswering, onCandidates, onFeedback, onUsage], (now, read) => read(now, chunk));
  },
  end: (state) => (state.over || state.finish === undefined ? [] : onEnd(state, state.finish)),
};

const known = ["candidates", "usageMetadata", "promptFeedback"] as const;

const onAnswering = (state: State, chunk: Fields): Told<State> => {
  const model = stringOf(chunk["modelVersion"]) ?? state.model;
  const id = stringOf(chunk["responseId"]) ?? state.id;
  if (model === state.model && id === state.id) return [state, []];
  const names = { ...(model === undefined ? {} : { model }), ...(id === undefined ? {} : { id }) };
  return [{ ...state, model, id }, [{ type: "answering", ...names }]];
};

const onCandidates = (state: State, chunk: Fields): Told<State> =>
  through(state, arrayOf(chunk["candidates"]).entries(), (now, [place, value]) => {
    const candidate = objectOf(value);
    return (numberOf(candidate["index"]) ?? place) === 0
      ? onCandidate(now, candidate)
      : passOver(now, "another candidate");
  });

const onCandidate = (state: State, candidate: Fields): Told<State> => {
  const content = objectOf(candidate["content"]);
  const role = content["role"] ?? "";
  if (role !== "" && role !== "model" && role !== "assistant")
    return breakOff(state, `The answer is in the role ${shortWord(role)}.`);
  const [said, events] = through(state, arrayOf(content["parts"]), (now, part) => onPart(now, objectOf(part)));
  if (said.over) return [said, events];
  const raw = finishWord(candidate["finishReason"]);
  const next = raw === "" ? said : { ...said, finish: { reason: reasons.get(raw) ?? "other", raw } };
  const others = Object.keys(candidate).filter((field) => !candidateFields.has(field) && candidate[field] !== null);
  if (others.length === 0) return [next, events];
  return [next, [...events, ...others.map((what): AnswerEvent => ({ type: "skipped", what }))]];
};

/** The word for a reason. Google also writes numbers where a client asks for them; up to 4 all its APIs count alike. */
const finishWord = (reason: unknown): string =>
  typeof reason === "number"
    ? (["", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION"][reason] ?? "OTHER")
    : (stringOf(reason) ?? "");

const candidateFields: ReadonlySet<string> = new Set([
  "content",
  "finishReason",
  "finishMessage",
  "index",
  "safetyRatings",
  "tokenCount",
  "avgLogprobs",
]);

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "filtered"],
  ["RECITATION", "filtered"],
  ["BLOCKLIST", "filtered"],
  ["PROHIBITED_CONTENT", "filtered"],
  ["SPII", "filtered"],
  ["MODEL_ARMOR", "filtered"],
  ["IMAGE_SAFETY", "filtered"],
  ["IMAGE_PROHIBITED_CONTENT", "filtered"],
  ["IMAGE_RECITATION", "filtered"],
  ["MALFORMED_FUNCTION_CALL", "malformed"],
  ["MALFORMED_RESPONSE", "malformed"],
  ["UNEXPECTED_TOOL_CALL", "malformed"],
  ["CONTINUATION", "paused"],
]);

const onPart = (state: State, part: Fields): Told<State> => {
  const asked = part["functionCall"];
  if (isObject(asked)) return onCall(state, part, asked);
  const signature = signatureOf(part);
  const text = stringOf(part["text"]);
  if (text !== undefined || (signature !== undefined && Object.keys(part).every((field) => bare.has(field))))
    return onWords(state, { type: part["thought"] === true ? "thinking" : "text", text: text ?? "" }, signature);
  const [said, events] = endWords(state);
  const [next, more] = onOther(said, part);
  return [next, [...events, ...more]];
};

/** A signature may come in a part of its own; what it stands on is an empty text. */
const bare: ReadonlySet<string> = new Set(["thought", "thoughtSignature"]);

const signatureOf = (part: Fields): string | undefined => stringOf(part["thoughtSignature"]) || undefined;

/** Words continue those before them, unless either is signed: a signature stands for exactly the part it came with. */
const onWords = (state: State, { type, text }: Omit<Words, "index">, signature: string | undefined): Told<State> => {
  if (signature === undefined && text === "") return [state, []];
  const { words } = state;
  if (signature === undefined && words?.type === type)
    return [{ ...state, words: { ...words, text: words.text + text } }, [delta(type, words.index, text)]];
  const [said, events] = endWords(state);
  const index = said.begun;
  const begun = { ...said, begun: index + 1 };
  const begins = text === "" ? events : [...events, delta(type, index, text)];
  return signature === undefined
    ? [{ ...begun, words: { index, type, text } }, begins]
    : [begun, [...begins, { type: "part-end", index, part: { type, text, seal: { signature } } }]];
};

const delta = (type: Words["type"], index: number, text: string): AnswerEvent =>
  type === "text" ? { type: "text-delta", index, text } : { type: "thinking-delta", index, text };

const endWords = (state: State): Told<State> => {
  if (state.words === undefined) return [state, []];
  const { index, type, text } = state.words;
  return [{ ...state, words: undefined }, [{ type: "part-end", index, part: { type, text } }]];
};

/**
 * A call comes whole, or named first and then in pieces until one says that no
 * more will follow. Vertex says so with a functionCall that holds nothing.
 */
const onCall = (state: State, part: Fields, asked: Fields): Told<State> => {
  const pieces = piecesIn(asked["partialArgs"]);
  const tool = stringOf(asked["name"]) ?? "";
  const id = idOf(asked["id"]);
  const open = state.call;
  const isSame = id === "" || open?.id === "" || id === open?.id;
  const isMore = isSame && (tool === "" || (tool === open?.tool && pieces.length > 0));
  if (open !== undefined && !isMore) return breakOff(state, `A call of ${shortWord(tool)} begins inside another call.`);
  if (open === undefined && tool === "" && asked["args"] === undefined)
    return pieces.length === 0
      ? passOver(state, "the end of a call that is not open")
      : breakOff(state, "A piece of a call that never began.");
  const said = open === undefined && id !== "" ? JSON.stringify([id, tool, asked["args"]]) : "";
  if (said !== "" && state.heard.includes(said)) return passOver(state, "a call, said twice");
  const heard = said === "" ? state.heard : [...state.heard.slice(-mostHeard), said];
  const [begun, events] = open === undefined ? beginCall({ ...state, heard }, tool) : ([state, []] as const);
  const call = grown(
    open ?? { index: state.begun, tool, id, signature: undefined, args: undefined, pieces: undefined },
    {
      id,
      signature: signatureOf(part),
      args: asked["args"],
      pieces,
    },
  );
  const goesOn = asked["willContinue"] === true || pieces.some(({ continues }) => continues);
  const [next, more] = goesOn ? ([{ ...begun, call }, []] as const) : endCall(begun, call);
  return [next, [...events, ...pieces.flatMap((piece) => callDelta(call.index, piece)), ...more]];
};

const mostHeard = 31;

const beginCall = (state: State, tool: string): Told<State> => {
  const [said, events] = endWords(state);
  const index = said.begun;
  return [{ ...said, begun: index + 1, called: true }, [...events, { type: "call-start", index, tool }]];
};

const grown = (
  call: OpenCall,
  more: Omit<OpenCall, "index" | "tool" | "pieces"> & { readonly pieces: readonly Piece[] },
): OpenCall => ({
  ...call,
  id: call.id || more.id,
  signature: call.signature ?? more.signature,
  args: more.args ?? call.args,
  pieces: more.pieces.reduce<Pieces>((before, piece) => ({ piece, before }), call.pieces),
});

const callDelta = (index: number, { value }: Piece): readonly AnswerEvent[] =>
  value === "" ? [] : [{ type: "call-delta", index, text: String(value) }];

const endCall = (state: State, { index, tool, id, signature, args, pieces }: OpenCall): Told<State> => {
  const input = pieces === undefined ? { value: args } : argumentsOf(pieces);
  const seal: Seal = { ...(id === "" ? {} : { id }), ...(signature === undefined ? {} : { signature }) };
  const call = { type: "call", tool, input } as const;
  const part = id === "" && signature === undefined ? call : { ...call, seal };
  return [{ ...state, call: undefined }, [{ type: "part-end", index, part }]];
};

/** Files, and code that ran at the provider. A signature on them has nowhere to go. */
const onOther = (state: State, part: Fields): Told<State> => {
  const made = codeOf(part) ?? fileOf(part);
  if (made === undefined) return passOver(state, shortWord(Object.keys(part).find((field) => !bare.has(field))));
  const ended: AnswerEvent = { type: "part-end", index: state.begun, part: made };
  const unsaid: readonly AnswerEvent[] =
    signatureOf(part) === undefined ? [] : [{ type: "skipped", what: `the signature of a ${made.type} part` }];
  return [{ ...state, begun: state.begun + 1 }, [ended, ...unsaid]];
};

const codeOf = ({ executableCode: run, codeExecutionResult: printed }: Fields): Code | undefined => {
  if (isObject(run)) {
    const language = stringOf(run["language"])?.toLowerCase() ?? "python";
    return { type: "code", language, text: stringOf(run["code"]) ?? "" };
  }
  if (!isObject(printed)) return undefined;
  const fine = printed["outcome"] === undefined || printed["outcome"] === "OUTCOME_OK";
  return { type: "code", language: fine ? "output" : "error", text: stringOf(printed["output"]) ?? "" };
};

/** A picture drawn while thinking is a sketch, not an answer. */
const fileOf = ({ inlineData, thought }: Fields): { type: "file"; mimeType: string; data: string } | undefined => {
  const { mimeType, data } = objectOf(inlineData);
  if (typeof data !== "string" || data === "" || thought === true) return undefined;
  return { type: "file", mimeType: stringOf(mimeType) || "application/octet-stream", data };
};

/** A prompt that was blocked is answered without candidates. */
const onFeedback = (state: State, chunk: Fields): Told<State> => {
  const raw = stringOf(objectOf(chunk["promptFeedback"])["blockReason"]) ?? "";
  return [raw === "" || state.finish !== undefined ? state : { ...state, finish: { reason: "filtered", raw } }, []];
};

const onUsage = (state: State, chunk: Fields): Told<State> => {
  const usage = geminiUsage(objectOf(chunk["usageMetadata"]));
  return [state, usage === undefined ? [] : [{ type: "usage", usage }]];
};

/** STOP also means that results are awaited. A call that was cut is never handed over. */
const onEnd = (state: State, { reason, raw }: Finish): readonly AnswerEvent[] => {
  const [, events] = endWords(state);
  if (state.call !== undefined && reason === "stop")
    return [...events, { type: "broken", what: "The answer stops inside a call." }];
  const cut: readonly AnswerEvent[] =
    state.call === undefined ? [] : [{ type: "skipped", what: "a call that was cut" }];
  return [...events, ...cut, { type: "finish", reason: reason === "stop" && state.called ? "calls" : reason, raw }];
};
