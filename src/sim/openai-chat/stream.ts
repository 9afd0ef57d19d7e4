import type { SimFamily, Json, SimResponse } from "../family.ts";
import { asObject } from "../json.ts";
import { isReasoningSplit, minimaxReasoning, thinkTags, mistralThinking } from "./response.ts";
import { encodeDetailDeltas } from "./reasoning-details.ts";
import { responseParts, finishOf, reasoningDetailsFor, type ChatResponsePart } from "./response-parts.ts";
import { requestNumber, lowerAlphanumeric } from "./ids.ts";
import type {
  ChatSimRequest,
  ChatResponseBody,
  SimChatCall,
  ChatFinish,
  ChatQuirks,
  StreamQuirks,
  StreamStep,
} from "./quirks.ts";
import { splitIntoDeltas } from "../split-text.ts";

/** Encodes the response as the vendor's stream of chunks. */
export const encodeStream = (response: SimResponse, request: ChatSimRequest): readonly string[] => {
  const stream = streamQuirks(request);
  const write = createChunkWriter(request);
  const [first, ...rest] = contentChunks(response, request, write);
  const chunks = first === undefined ? [] : [{ ...first, ...stream.first?.(request) }, ...rest];
  if (response.finish === "malformed" && stream.badCall !== undefined)
    return [...chunks.map(encodeEvent), encodeErrorEvent(stream.badCall)];
  const comments = stream.comment === undefined ? [] : [`${stream.comment}\n\n`, `${stream.comment}\n\n`];
  return [
    ...comments,
    ...chunks.map(encodeEvent),
    ...finalChunks(response, request, write).map(encodeEvent),
    "data: [DONE]\n\n",
  ];
};

const streamQuirks = ({ model, provider: { quirks } }: ChatSimRequest): StreamQuirks =>
  quirks.hosted?.models.test(model) === true ? { ...quirks.stream, ...quirks.hosted.stream } : quirks.stream;

const encodeErrorEvent = (error: Json): string => `event: error\n${encodeEvent({ error })}`;

const encodeEvent = (chunk: Json): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** The content of one chunk. */
type ChatDelta = { readonly kind: StreamStep["kind"]; readonly core: Json };

const contentChunks = (response: SimResponse, request: ChatSimRequest, write: WriteChunk): readonly Json[] => {
  const stream = streamQuirks(request);
  const isHeldBack = stream.sendsCallsLast || (stream.badCall !== undefined && response.finish === "malformed");
  const deltas = responseDeltas(response, request).filter(({ kind }) => kind !== "calls" || !isHeldBack);
  return deltas.map((delta, index) => {
    const step = streamStep(delta.kind, { isFirst: index === 0, response, request });
    return write({ choices: [stream.choice(stream.delta(delta.core, step), undefined)] });
  });
};

const streamStep = (
  kind: StreamStep["kind"],
  {
    isFirst,
    response,
    request,
  }: { readonly isFirst: boolean; readonly response: SimResponse; readonly request: ChatSimRequest },
): StreamStep => ({
  kind,
  isFirst,
  hasReasoning: response.parts.some(({ type }) => type === "think"),
  hasOnlyCalls: response.parts.every(({ type }) => type === "call" || type === "think") && response.finish === "calls",
  model: request.model,
});

const responseDeltas = (response: SimResponse, request: ChatSimRequest): readonly ChatDelta[] => {
  const stream = streamQuirks(request);
  const parts = responseParts(response, request);
  const calls = parts.flatMap((part) => (part.type === "call" ? [part.call] : []));
  const together = stream.calls === "whole" && calls.length > 0;
  return [
    ...(stream.hasOpeningChunk ? [{ kind: "open" as const, core: {} }] : []),
    ...parts.flatMap((part) =>
      part.type === "call" && together ? sealDeltas(part, request) : partDeltas(part, request),
    ),
    ...(together ? [callDelta(calls.map(stream.call))] : []),
  ];
};

const partDeltas = (part: ChatResponsePart, request: ChatSimRequest): readonly ChatDelta[] => {
  switch (part.type) {
    case "think":
      return reasoningDeltas(part, request);
    case "say":
      return splitIntoDeltas(part.text).map((content) => ({ kind: "say", core: { content } }));
    case "refuse":
      return splitIntoDeltas(part.text).map((refusal) => ({ kind: "say", core: { refusal } }));
    case "call":
      return [...sealDeltas(part, request), ...callDeltas(part.call, request)];
    case "note":
      return [{ kind: "other", core: part.fields }];
  }
};

const reasoningDeltas = (
  part: Extract<ChatResponsePart, { type: "think" }>,
  request: ChatSimRequest,
): readonly ChatDelta[] => {
  const { reasoning } = request.provider.quirks;
  const pieces = splitIntoDeltas(part.text);
  const deltasOf = (core: (piece: string) => Json): readonly ChatDelta[] =>
    pieces.map((piece) => ({ kind: "think", core: core(piece) }));
  switch (reasoning) {
    case "hidden":
      return [];
    case "reasoning":
    case "reasoning_content":
      return deltasOf((piece) => ({ [reasoning]: piece }));
    case "chunks":
      return deltasOf((piece) => ({ content: [mistralThinking(piece)] }));
    case "details":
      return encodeDetailDeltas(part.part, { pieces, index: part.index, request }).map(({ text, detail }) => ({
        kind: "think",
        core: { reasoning: text, reasoning_details: [detail] },
      }));
    case "tags":
      return isReasoningSplit(request)
        ? deltasOf((piece) => ({ reasoning_content: piece, reasoning_details: [minimaxReasoning(piece)] }))
        : splitIntoDeltas(thinkTags(part.text)).map((content) => ({ kind: "say", core: { content } }));
  }
};

/** The deltas with a call's seal, which precede it. */
const sealDeltas = (part: ChatResponsePart, request: ChatSimRequest): readonly ChatDelta[] =>
  reasoningDetailsFor(part, request).map((detail) => ({
    kind: "think",
    core: { reasoning: null, reasoning_details: [detail] },
  }));

const callDelta = (calls: readonly Json[]): ChatDelta => ({ kind: "calls", core: { tool_calls: calls } });

const callDeltas = (call: SimChatCall, request: ChatSimRequest): readonly ChatDelta[] => {
  const stream = streamQuirks(request);
  const isBuffered = stream.calls === "buffered" && request.body["tool_stream"] !== true;
  if (isBuffered || stream.calls === "whole") return [callDelta([stream.call(call)])];
  const { index, id, name } = call;
  const pieces = call.arguments.match(/.{1,12}/gsu) ?? [];
  const more = (text: string): Json => {
    if (stream.calls === "blank-ids") return { index, id: "", type: "function", function: { arguments: text } };
    return { index, function: { ...(stream.calls === "blank-names" ? { name: "" } : {}), arguments: text } };
  };
  return [
    callDelta([{ index, id, type: "function", function: { name, arguments: "" } }]),
    ...pieces.map((piece) => callDelta([more(piece)])),
    ...(stream.calls === "blank-ids" ? [callDelta([more("")])] : []),
  ];
};

/** The last chunks: finish reason and usage. */
const finalChunks = (response: SimResponse, request: ChatSimRequest, write: WriteChunk): readonly Json[] => {
  const { quirks } = request.provider;
  const stream = streamQuirks(request);
  const usage = quirks.usage(response.usage, request);
  const choice = lastChoice(response, finishOf(response, request), request);
  const own = wantsUsage(request) ? [write({ choices: [], usage })] : [];
  switch (stream.usage) {
    case "on-request":
      return [write({ choices: [choice] }), ...own];
    case "last-chunk":
      return [{ ...write({ choices: [choice], usage }), ...stream.last?.(usage, request) }];
    case "last-choice":
      return [write({ choices: [{ ...choice, usage }] }), ...own];
    case "repeated-chunk":
      return [write({ choices: [choice] }), write({ choices: [choice], usage })];
  }
};

const lastChoice = (response: SimResponse, finish: ChatFinish, request: ChatSimRequest): Json => {
  const stream = streamQuirks(request);
  const calls = stream.sendsCallsLast
    ? responseDeltas(response, request).find(({ kind }) => kind === "calls")
    : undefined;
  const { kind, core } = calls ?? { kind: "end" as const, core: {} };
  return stream.choice(stream.delta(core, streamStep(kind, { isFirst: false, response, request })), finish);
};

const wantsUsage = ({ body }: ChatSimRequest): boolean => asObject(body["stream_options"])["include_usage"] === true;

/** Encodes one chunk. */
type WriteChunk = (body: Pick<ChatResponseBody, "choices" | "usage">) => Json;

const createChunkWriter = (request: ChatSimRequest): WriteChunk => {
  const { quirks } = request.provider;
  const { pendingUsage, padding } = streamQuirks(request);
  const id = quirks.responseId(request);
  const empty =
    pendingUsage === "null" || (pendingUsage === "null-on-request" && wantsUsage(request)) ? { usage: null } : {};
  const isPadded = asObject(request.body["stream_options"])["include_obfuscation"] !== false;
  return (body) => {
    const chunk = quirks.envelope({ ...empty, ...body, id, kind: "chat.completion.chunk" }, request);
    if (padding === undefined || !isPadded) return chunk;
    return {
      ...chunk,
      [padding]: lowerAlphanumeric.slice(0, 1 + (JSON.stringify(body).length % lowerAlphanumeric.length)),
    };
  };
};

/** Encodes an error inside a stream in the vendor's format. */
export const encodeStreamError: NonNullable<SimFamily<ChatQuirks>["encodeStreamError"]> = (refusal, request) => {
  const { quirks, id } = request.provider;
  const { body } = quirks.errors(refusal, requestNumber(id, request.ordinal));
  switch (streamQuirks(request).failure) {
    case "plain":
      return encodeEvent(body);
    case "event":
      return encodeErrorEvent({ ...asObject(body["error"]), status_code: refusal.status });
    case "chunk": {
      const choice = streamQuirks(request).choice(
        { content: "", role: "assistant" },
        { reason: "error", native: "error" },
      );
      const { choices, ...head } = createChunkWriter(request)({ choices: [choice] });
      const error = { code: refusal.status, message: refusal.message };
      return encodeEvent({ ...head, error, choices });
    }
  }
};
