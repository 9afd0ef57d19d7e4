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

/** The same answer as a stream, chunk by chunk in the vendor's own cut. */
export const encodeStream = (spoken: SimResponse, ask: ChatSimRequest): readonly string[] => {
  const stream = streamQuirks(ask);
  const write = createChunkWriter(ask);
  const [first, ...said] = contentChunks(spoken, ask, write);
  const begun = first === undefined ? [] : [{ ...first, ...stream.first?.(ask) }, ...said];
  if (spoken.finish === "malformed" && stream.badCall !== undefined)
    return [...begun.map(encodeEvent), encodeErrorEvent(stream.badCall)];
  const comments = stream.comment === undefined ? [] : [`${stream.comment}\n\n`, `${stream.comment}\n\n`];
  return [
    ...comments,
    ...begun.map(encodeEvent),
    ...finalChunks(spoken, ask, write).map(encodeEvent),
    "data: [DONE]\n\n",
  ];
};

const streamQuirks = ({ model, provider: { quirks } }: ChatSimRequest): StreamQuirks =>
  quirks.hosted?.models.test(model) === true ? { ...quirks.stream, ...quirks.hosted.stream } : quirks.stream;

const encodeErrorEvent = (error: Json): string => `event: error\n${encodeEvent({ error })}`;

const encodeEvent = (chunk: Json): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** What one chunk adds. */
type ChatDelta = { readonly kind: StreamStep["kind"]; readonly core: Json };

const contentChunks = (spoken: SimResponse, ask: ChatSimRequest, write: WriteChunk): readonly Json[] => {
  const stream = streamQuirks(ask);
  const isHeldBack = stream.sendsCallsLast || (stream.badCall !== undefined && spoken.finish === "malformed");
  const bits = responseDeltas(spoken, ask).filter(({ kind }) => kind !== "calls" || !isHeldBack);
  return bits.map((bit, index) => {
    const step = streamStep(bit.kind, { isFirst: index === 0, spoken, ask });
    return write({ choices: [stream.choice(stream.delta(bit.core, step), undefined)] });
  });
};

const streamStep = (
  kind: StreamStep["kind"],
  { isFirst, spoken, ask }: { readonly isFirst: boolean; readonly spoken: SimResponse; readonly ask: ChatSimRequest },
): StreamStep => ({
  kind,
  isFirst,
  hasReasoning: spoken.parts.some(({ type }) => type === "think"),
  hasOnlyCalls: spoken.parts.every(({ type }) => type === "call" || type === "think") && spoken.finish === "calls",
  model: ask.model,
});

const responseDeltas = (spoken: SimResponse, ask: ChatSimRequest): readonly ChatDelta[] => {
  const stream = streamQuirks(ask);
  const said = responseParts(spoken, ask);
  const calls = said.flatMap((part) => (part.type === "call" ? [part.call] : []));
  const together = stream.calls === "whole" && calls.length > 0;
  return [
    ...(stream.hasOpeningChunk ? [{ kind: "open" as const, core: {} }] : []),
    ...said.flatMap((part) => (part.type === "call" && together ? sealDeltas(part, ask) : partDeltas(part, ask))),
    ...(together ? [callDelta(calls.map(stream.call))] : []),
  ];
};

const partDeltas = (said: ChatResponsePart, ask: ChatSimRequest): readonly ChatDelta[] => {
  switch (said.type) {
    case "think":
      return reasoningDeltas(said, ask);
    case "say":
      return splitIntoDeltas(said.text).map((content) => ({ kind: "say", core: { content } }));
    case "refuse":
      return splitIntoDeltas(said.text).map((refusal) => ({ kind: "say", core: { refusal } }));
    case "call":
      return [...sealDeltas(said, ask), ...callDeltas(said.call, ask)];
    case "note":
      return [{ kind: "other", core: said.fields }];
  }
};

const reasoningDeltas = (
  said: Extract<ChatResponsePart, { type: "think" }>,
  ask: ChatSimRequest,
): readonly ChatDelta[] => {
  const { reasoning } = ask.provider.quirks;
  const pieces = splitIntoDeltas(said.text);
  const bits = (core: (piece: string) => Json): readonly ChatDelta[] =>
    pieces.map((piece) => ({ kind: "think", core: core(piece) }));
  switch (reasoning) {
    case "hidden":
      return [];
    case "reasoning":
    case "reasoning_content":
      return bits((piece) => ({ [reasoning]: piece }));
    case "chunks":
      return bits((piece) => ({ content: [mistralThinking(piece)] }));
    case "details":
      return encodeDetailDeltas(said.part, { pieces, index: said.index, ask }).map(({ text, detail }) => ({
        kind: "think",
        core: { reasoning: text, reasoning_details: [detail] },
      }));
    case "tags":
      return isReasoningSplit(ask)
        ? bits((piece) => ({ reasoning_content: piece, reasoning_details: [minimaxReasoning(piece)] }))
        : splitIntoDeltas(thinkTags(said.text)).map((content) => ({ kind: "say", core: { content } }));
  }
};

/** What seals a call comes before it. */
const sealDeltas = (said: ChatResponsePart, ask: ChatSimRequest): readonly ChatDelta[] =>
  reasoningDetailsFor(said, ask).map((detail) => ({
    kind: "think",
    core: { reasoning: null, reasoning_details: [detail] },
  }));

const callDelta = (calls: readonly Json[]): ChatDelta => ({ kind: "calls", core: { tool_calls: calls } });

const callDeltas = (call: SimChatCall, ask: ChatSimRequest): readonly ChatDelta[] => {
  const stream = streamQuirks(ask);
  const isBuffered = stream.calls === "buffered" && ask.body["tool_stream"] !== true;
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

/** The chunks that end an answer and count it. */
const finalChunks = (spoken: SimResponse, ask: ChatSimRequest, write: WriteChunk): readonly Json[] => {
  const { quirks } = ask.provider;
  const stream = streamQuirks(ask);
  const usage = quirks.usage(spoken.usage, ask);
  const choice = lastChoice(spoken, finishOf(spoken, ask), ask);
  const own = wantsUsage(ask) ? [write({ choices: [], usage })] : [];
  switch (stream.usage) {
    case "asked":
      return [write({ choices: [choice] }), ...own];
    case "end":
      return [{ ...write({ choices: [choice], usage }), ...stream.last?.(usage, ask) }];
    case "choice":
      return [write({ choices: [{ ...choice, usage }] }), ...own];
    case "again":
      return [write({ choices: [choice] }), write({ choices: [choice], usage })];
  }
};

const lastChoice = (spoken: SimResponse, finish: ChatFinish, ask: ChatSimRequest): Json => {
  const stream = streamQuirks(ask);
  const calls = stream.sendsCallsLast ? responseDeltas(spoken, ask).find(({ kind }) => kind === "calls") : undefined;
  const { kind, core } = calls ?? { kind: "end" as const, core: {} };
  return stream.choice(stream.delta(core, streamStep(kind, { isFirst: false, spoken, ask })), finish);
};

const wantsUsage = ({ body }: ChatSimRequest): boolean => asObject(body["stream_options"])["include_usage"] === true;

/** Writes one chunk. */
type WriteChunk = (body: Pick<ChatResponseBody, "choices" | "usage">) => Json;

const createChunkWriter = (ask: ChatSimRequest): WriteChunk => {
  const { quirks } = ask.provider;
  const { pendingUsage: noUsage, padding } = streamQuirks(ask);
  const id = quirks.responseId(ask);
  const empty = noUsage === "null" || (noUsage === "null-if-asked" && wantsUsage(ask)) ? { usage: null } : {};
  const isPadded = asObject(ask.body["stream_options"])["include_obfuscation"] !== false;
  return (body) => {
    const chunk = quirks.envelope({ ...empty, ...body, id, kind: "chat.completion.chunk" }, ask);
    if (padding === undefined || !isPadded) return chunk;
    return {
      ...chunk,
      [padding]: lowerAlphanumeric.slice(0, 1 + (JSON.stringify(body).length % lowerAlphanumeric.length)),
    };
  };
};

/** A failure inside a stream, as each vendor breaks it off. */
export const encodeStreamError: NonNullable<SimFamily<ChatQuirks>["encodeStreamError"]> = (refusal, ask) => {
  const { quirks, id } = ask.provider;
  const { body } = quirks.errors(refusal, requestNumber(id, ask.ordinal));
  switch (streamQuirks(ask).failure) {
    case "plain":
      return encodeEvent(body);
    case "event":
      return encodeErrorEvent({ ...asObject(body["error"]), status_code: refusal.status });
    case "chunk": {
      const choice = streamQuirks(ask).choice({ content: "", role: "assistant" }, { reason: "error", native: "error" });
      const { choices, ...head } = createChunkWriter(ask)({ choices: [choice] });
      const error = { code: refusal.status, message: refusal.message };
      return encodeEvent({ ...head, error, choices });
    }
  }
};
