import { isObject } from "../../conversation/json.ts";
import type { Code, Seal } from "../../conversation/parts.ts";
import {
  createStreamDecoder,
  type ResponseEvent,
  type ResponseDecoder,
  type FinishReason,
  type StreamFold,
} from "../decode/events.ts";
import { fail, skip, shortName, endWith, foldItems, type StepResult } from "../decode/fold.ts";
import {
  assembleArguments,
  parsePartialArguments,
  type PartialArgument,
  type PartialArguments,
} from "./partial-arguments.ts";
import { geminiUsage } from "./usage.ts";
import { parseApiError } from "../decode/api-error.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "../reader.ts";

/**
 * Decodes generateContent responses, with or without the Code Assist envelope. The usage may come after the finish
 * reason, so a response finishes with its stream.
 */
export const decodeGemini: ResponseDecoder<unknown> = {
  open: () => createStreamDecoder(fold),
  frames: (body) => (Array.isArray(body) ? body : [body]).map((data: unknown) => ({ name: "", data })),
  parseError: parseApiError,
};

type GeminiStreamState = {
  /** How many parts have started. */
  readonly partCount: number;
  /** Text without a signature, which the next chunk may continue. */
  readonly openText: GeminiOpenText | undefined;
  /** A call whose arguments are streamed. */
  readonly openCall: GeminiOpenCall | undefined;
  readonly hasCalls: boolean;
  /** The latest complete calls with ids, for deduplication: a chunk may be delivered twice. */
  readonly seenCalls: readonly string[];
  readonly finish: GeminiFinish | undefined;
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly over: boolean;
};

type GeminiChunkFields = Record<string, unknown>;
type GeminiOpenText = { readonly index: number; readonly type: "text" | "thinking"; readonly text: string };
type GeminiOpenCall = {
  readonly index: number;
  readonly tool: string;
  readonly id: string;
  readonly signature: string | undefined;
  readonly args: unknown;
  readonly pieces: PartialArguments;
};
type GeminiFinish = { readonly reason: FinishReason; readonly raw: string };

const fold: StreamFold<GeminiStreamState> = {
  start: {
    partCount: 0,
    openText: undefined,
    openCall: undefined,
    hasCalls: false,
    seenCalls: [],
    finish: undefined,
    model: undefined,
    id: undefined,
    over: false,
  },
  step: (state, { data }) => {
    if (state.over) return skip(state, "a frame after the end");
    const chunk = isObject(data) && isObject(data["response"]) ? data["response"] : objectOf(data);
    const isResponse = responseFields.some((field) => typeof chunk[field] === "object" && chunk[field] !== null);
    const apiError = isObject(data) && (!isResponse || isObject(data["error"])) ? parseApiError(data) : undefined;
    if (apiError !== undefined) return endWith(state, { type: "error", error: apiError });
    if (!isResponse) return skip(state, `a frame with ${shortName(Object.keys(chunk)[0])}`);
    return foldItems(state, [onAnswering, onCandidates, onFeedback, onUsage], (now, read) => read(now, chunk));
  },
  end: (state) => (state.over || state.finish === undefined ? [] : onEnd(state, state.finish)),
};

const responseFields = ["candidates", "usageMetadata", "promptFeedback"] as const;

const onAnswering = (state: GeminiStreamState, chunk: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const model = stringOf(chunk["modelVersion"]) ?? state.model;
  const id = stringOf(chunk["responseId"]) ?? state.id;
  if (model === state.model && id === state.id) return [state, []];
  const names = { ...(model === undefined ? {} : { model }), ...(id === undefined ? {} : { id }) };
  return [{ ...state, model, id }, [{ type: "response-start", ...names }]];
};

const onCandidates = (state: GeminiStreamState, chunk: GeminiChunkFields): StepResult<GeminiStreamState> =>
  foldItems(state, arrayOf(chunk["candidates"]).entries(), (now, [place, value]) => {
    const candidate = objectOf(value);
    return (numberOf(candidate["index"]) ?? place) === 0 ? onCandidate(now, candidate) : skip(now, "another candidate");
  });

const onCandidate = (state: GeminiStreamState, candidate: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const content = objectOf(candidate["content"]);
  const role = content["role"] ?? "";
  if (role !== "" && role !== "model" && role !== "assistant")
    return fail(state, `The answer is in the role ${shortName(role)}.`);
  const [read, events] = foldItems(state, arrayOf(content["parts"]), (now, part) => onPart(now, objectOf(part)));
  if (read.over) return [read, events];
  const raw = finishReasonName(candidate["finishReason"]);
  const next = raw === "" ? read : { ...read, finish: { reason: finishReasons.get(raw) ?? "other", raw } };
  const others = Object.keys(candidate).filter((field) => !candidateFields.has(field) && candidate[field] !== null);
  if (others.length === 0) return [next, events];
  return [next, [...events, ...others.map((what): ResponseEvent => ({ type: "skipped", what }))]];
};

/** Returns the name of a finish reason. Google sends numbers where a client asks for them; up to 4 all its APIs agree. */
const finishReasonName = (reason: unknown): string =>
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

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
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

const onPart = (state: GeminiStreamState, part: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const functionCall = part["functionCall"];
  if (isObject(functionCall)) return onCall(state, part, functionCall);
  const signature = signatureOf(part);
  const text = stringOf(part["text"]);
  if (
    text !== undefined ||
    (signature !== undefined && Object.keys(part).every((field) => signatureOnlyFields.has(field)))
  )
    return onText(state, { type: part["thought"] === true ? "thinking" : "text", text: text ?? "" }, signature);
  const [ended, events] = endText(state);
  const [next, more] = onOther(ended, part);
  return [next, [...events, ...more]];
};

/** Fields of a part that holds only a signature; it becomes an empty signed text. */
const signatureOnlyFields: ReadonlySet<string> = new Set(["thought", "thoughtSignature"]);

const signatureOf = (part: GeminiChunkFields): string | undefined => stringOf(part["thoughtSignature"]) || undefined;

/** Appends text to the open text, unless either is signed: a signature covers exactly the part it came with. */
const onText = (
  state: GeminiStreamState,
  { type, text }: Omit<GeminiOpenText, "index">,
  signature: string | undefined,
): StepResult<GeminiStreamState> => {
  if (signature === undefined && text === "") return [state, []];
  const { openText } = state;
  if (signature === undefined && openText?.type === type)
    return [{ ...state, openText: { ...openText, text: openText.text + text } }, [delta(type, openText.index, text)]];
  const [ended, events] = endText(state);
  const index = ended.partCount;
  const started = { ...ended, partCount: index + 1 };
  const startEvents = text === "" ? events : [...events, delta(type, index, text)];
  return signature === undefined
    ? [{ ...started, openText: { index, type, text } }, startEvents]
    : [started, [...startEvents, { type: "part-end", index, part: { type, text, seal: { signature } } }]];
};

const delta = (type: GeminiOpenText["type"], index: number, text: string): ResponseEvent =>
  type === "text" ? { type: "text-delta", index, text } : { type: "thinking-delta", index, text };

const endText = (state: GeminiStreamState): StepResult<GeminiStreamState> => {
  if (state.openText === undefined) return [state, []];
  const { index, type, text } = state.openText;
  return [{ ...state, openText: undefined }, [{ type: "part-end", index, part: { type, text } }]];
};

/**
 * Handles a call, which is complete or starts with its name and is streamed until a piece says that it is the last.
 * Vertex ends it with an empty functionCall.
 */
const onCall = (
  state: GeminiStreamState,
  part: GeminiChunkFields,
  functionCall: GeminiChunkFields,
): StepResult<GeminiStreamState> => {
  const pieces = parsePartialArguments(functionCall["partialArgs"]);
  const tool = stringOf(functionCall["name"]) ?? "";
  const id = idOf(functionCall["id"]);
  const open = state.openCall;
  const isSame = id === "" || open?.id === "" || id === open?.id;
  const isMore = isSame && (tool === "" || (tool === open?.tool && pieces.length > 0));
  if (open !== undefined && !isMore) return fail(state, `A call of ${shortName(tool)} begins inside another call.`);
  if (open === undefined && tool === "" && functionCall["args"] === undefined)
    return pieces.length === 0
      ? skip(state, "the end of a call that is not open")
      : fail(state, "A piece of a call that never began.");
  const callKey = open === undefined && id !== "" ? JSON.stringify([id, tool, functionCall["args"]]) : "";
  if (callKey !== "" && state.seenCalls.includes(callKey)) return skip(state, "a call, said twice");
  const seenCalls = callKey === "" ? state.seenCalls : [...state.seenCalls.slice(-maxSeenCalls), callKey];
  const [started, events] = open === undefined ? startCall({ ...state, seenCalls }, tool, id) : ([state, []] as const);
  const call = extendCall(
    open ?? { index: state.partCount, tool, id, signature: undefined, args: undefined, pieces: undefined },
    {
      id,
      signature: signatureOf(part),
      args: functionCall["args"],
      pieces,
    },
  );
  const isUnfinished = functionCall["willContinue"] === true || pieces.some(({ continues }) => continues);
  const [next, more] = isUnfinished ? ([{ ...started, openCall: call }, []] as const) : endCall(started, call);
  return [next, [...events, ...pieces.flatMap((piece) => callDelta(call.index, piece)), ...more]];
};

const maxSeenCalls = 31;

const startCall = (state: GeminiStreamState, tool: string, id: string): StepResult<GeminiStreamState> => {
  const [ended, events] = endText(state);
  const index = ended.partCount;
  return [
    { ...ended, partCount: index + 1, hasCalls: true },
    [...events, { type: "call-start", index, tool, ...(id === "" ? {} : { id }) }],
  ];
};

const extendCall = (
  call: GeminiOpenCall,
  more: Omit<GeminiOpenCall, "index" | "tool" | "pieces"> & { readonly pieces: readonly PartialArgument[] },
): GeminiOpenCall => ({
  ...call,
  id: call.id || more.id,
  signature: call.signature ?? more.signature,
  args: more.args ?? call.args,
  pieces: more.pieces.reduce<PartialArguments>((before, piece) => ({ piece, before }), call.pieces),
});

const callDelta = (index: number, { value }: PartialArgument): readonly ResponseEvent[] =>
  value === "" ? [] : [{ type: "call-delta", index, text: String(value) }];

const endCall = (
  state: GeminiStreamState,
  { index, tool, id, signature, args, pieces }: GeminiOpenCall,
): StepResult<GeminiStreamState> => {
  const input = pieces === undefined ? { value: args } : assembleArguments(pieces);
  const seal: Seal = { ...(id === "" ? {} : { id }), ...(signature === undefined ? {} : { signature }) };
  const call = { type: "call", tool, input } as const;
  const part = id === "" && signature === undefined ? call : { ...call, seal };
  return [{ ...state, openCall: undefined }, [{ type: "part-end", index, part }]];
};

/** Handles files and code the provider executed. A signature on them cannot be kept. */
const onOther = (state: GeminiStreamState, part: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const content = codeOf(part) ?? fileOf(part);
  if (content === undefined)
    return skip(state, shortName(Object.keys(part).find((field) => !signatureOnlyFields.has(field))));
  const ended: ResponseEvent = { type: "part-end", index: state.partCount, part: content };
  const skippedEvents: readonly ResponseEvent[] =
    signatureOf(part) === undefined ? [] : [{ type: "skipped", what: `the signature of a ${content.type} part` }];
  return [{ ...state, partCount: state.partCount + 1 }, [ended, ...skippedEvents]];
};

const codeOf = ({ executableCode: executed, codeExecutionResult: result }: GeminiChunkFields): Code | undefined => {
  if (isObject(executed)) {
    const language = stringOf(executed["language"])?.toLowerCase() ?? "python";
    return { type: "code", language, text: stringOf(executed["code"]) ?? "" };
  }
  if (!isObject(result)) return undefined;
  const isSuccess = result["outcome"] === undefined || result["outcome"] === "OUTCOME_OK";
  return { type: "code", language: isSuccess ? "output" : "error", text: stringOf(result["output"]) ?? "" };
};

/** Reads a file. An image made while thinking is not part of the response. */
const fileOf = ({
  inlineData,
  thought,
}: GeminiChunkFields): { type: "file"; mimeType: string; data: string } | undefined => {
  const { mimeType, data } = objectOf(inlineData);
  if (typeof data !== "string" || data === "" || thought === true) return undefined;
  return { type: "file", mimeType: stringOf(mimeType) || "application/octet-stream", data };
};

/** A blocked prompt gets a response without candidates. */
const onFeedback = (state: GeminiStreamState, chunk: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const raw = stringOf(objectOf(chunk["promptFeedback"])["blockReason"]) ?? "";
  return [raw === "" || state.finish !== undefined ? state : { ...state, finish: { reason: "filtered", raw } }, []];
};

const onUsage = (state: GeminiStreamState, chunk: GeminiChunkFields): StepResult<GeminiStreamState> => {
  const usage = geminiUsage(objectOf(chunk["usageMetadata"]));
  return [state, usage === undefined ? [] : [{ type: "usage", usage }]];
};

/** Finishes the stream. STOP is also used with tool calls. A call that was cut is never emitted. */
const onEnd = (state: GeminiStreamState, { reason, raw }: GeminiFinish): readonly ResponseEvent[] => {
  const [, events] = endText(state);
  if (state.openCall !== undefined && reason === "stop")
    return [...events, { type: "malformed", what: "The answer stops inside a call." }];
  const cut: readonly ResponseEvent[] =
    state.openCall === undefined ? [] : [{ type: "skipped", what: "a call that was cut" }];
  return [...events, ...cut, { type: "finish", reason: reason === "stop" && state.hasCalls ? "calls" : reason, raw }];
};
