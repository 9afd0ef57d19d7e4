import type { Family, Json, Spoken } from "./family.ts";
import { asObject } from "./json.ts";
import { isSplit, splitThought, tagged, thinkingChunk } from "./openai-chat-answer.ts";
import { detailPieces } from "./openai-chat-details.ts";
import { draftOf, finishOf, sealedOf, type ChatSaid } from "./openai-chat-draft.ts";
import { requestNumber, smallLetters } from "./openai-chat-ids.ts";
import type {
  ChatAsk,
  ChatBody,
  ChatCall,
  ChatFinish,
  ChatQuirks,
  StreamQuirks,
  StreamStep,
} from "./openai-chat-quirks.ts";
import { deltas } from "./split.ts";

/** The same answer as a stream, chunk by chunk in the vendor's own cut. */
export const streamAnswer = (spoken: Spoken, ask: ChatAsk): readonly string[] => {
  const stream = streamQuirks(ask);
  const write = writerOf(ask);
  const [first, ...said] = saying(spoken, ask, write);
  const begun = first === undefined ? [] : [{ ...first, ...stream.first?.(ask) }, ...said];
  if (spoken.finish === "malformed" && stream.badCall !== undefined)
    return [...begun.map(eventOf), errorEvent(stream.badCall)];
  const comments = stream.comment === undefined ? [] : [`${stream.comment}\n\n`, `${stream.comment}\n\n`];
  return [...comments, ...begun.map(eventOf), ...ending(spoken, ask, write).map(eventOf), "data: [DONE]\n\n"];
};

const streamQuirks = ({ model, provider: { quirks } }: ChatAsk): StreamQuirks =>
  quirks.hosted?.models.test(model) === true ? { ...quirks.stream, ...quirks.hosted.stream } : quirks.stream;

const errorEvent = (error: Json): string => `event: error\n${eventOf({ error })}`;

const eventOf = (chunk: Json): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** What one chunk adds. */
type Bit = { readonly kind: StreamStep["kind"]; readonly core: Json };

const saying = (spoken: Spoken, ask: ChatAsk, write: Write): readonly Json[] => {
  const stream = streamQuirks(ask);
  const isHeldBack = stream.endsWithCalls || (stream.badCall !== undefined && spoken.finish === "malformed");
  const bits = bitsOf(spoken, ask).filter(({ kind }) => kind !== "calls" || !isHeldBack);
  return bits.map((bit, index) => {
    const step = stepOf(bit.kind, { isFirst: index === 0, spoken, ask });
    return write({ choices: [stream.choice(stream.delta(bit.core, step), undefined)] });
  });
};

const stepOf = (
  kind: StreamStep["kind"],
  { isFirst, spoken, ask }: { readonly isFirst: boolean; readonly spoken: Spoken; readonly ask: ChatAsk },
): StreamStep => ({
  kind,
  isFirst,
  thinks: spoken.parts.some(({ type }) => type === "think"),
  onlyCalls: spoken.parts.every(({ type }) => type === "call" || type === "think") && spoken.finish === "calls",
  model: ask.model,
});

const bitsOf = (spoken: Spoken, ask: ChatAsk): readonly Bit[] => {
  const stream = streamQuirks(ask);
  const said = draftOf(spoken, ask);
  const calls = said.flatMap((part) => (part.type === "call" ? [part.call] : []));
  const together = stream.calls === "whole" && calls.length > 0;
  return [
    ...(stream.opens ? [{ kind: "open" as const, core: {} }] : []),
    ...said.flatMap((part) => (part.type === "call" && together ? sealBits(part, ask) : saidBits(part, ask))),
    ...(together ? [callBit(calls.map(stream.call))] : []),
  ];
};

const saidBits = (said: ChatSaid, ask: ChatAsk): readonly Bit[] => {
  switch (said.type) {
    case "think":
      return thoughtBits(said, ask);
    case "say":
      return deltas(said.text).map((content) => ({ kind: "say", core: { content } }));
    case "refuse":
      return deltas(said.text).map((refusal) => ({ kind: "say", core: { refusal } }));
    case "call":
      return [...sealBits(said, ask), ...callBits(said.call, ask)];
    case "note":
      return [{ kind: "other", core: said.fields }];
  }
};

const thoughtBits = (said: Extract<ChatSaid, { type: "think" }>, ask: ChatAsk): readonly Bit[] => {
  const { reasoning } = ask.provider.quirks;
  const pieces = deltas(said.text);
  const bits = (core: (piece: string) => Json): readonly Bit[] =>
    pieces.map((piece) => ({ kind: "think", core: core(piece) }));
  switch (reasoning) {
    case "hidden":
      return [];
    case "reasoning":
    case "reasoning_content":
      return bits((piece) => ({ [reasoning]: piece }));
    case "chunks":
      return bits((piece) => ({ content: [thinkingChunk(piece)] }));
    case "details":
      return detailPieces(said.part, { pieces, index: said.index, ask }).map(({ text, detail }) => ({
        kind: "think",
        core: { reasoning: text, reasoning_details: [detail] },
      }));
    case "tags":
      return isSplit(ask)
        ? bits((piece) => ({ reasoning_content: piece, reasoning_details: [splitThought(piece)] }))
        : deltas(tagged(said.text)).map((content) => ({ kind: "say", core: { content } }));
  }
};

/** What seals a call comes before it. */
const sealBits = (said: ChatSaid, ask: ChatAsk): readonly Bit[] =>
  sealedOf(said, ask).map((detail) => ({ kind: "think", core: { reasoning: null, reasoning_details: [detail] } }));

const callBit = (calls: readonly Json[]): Bit => ({ kind: "calls", core: { tool_calls: calls } });

const callBits = (call: ChatCall, ask: ChatAsk): readonly Bit[] => {
  const stream = streamQuirks(ask);
  const isBuffered = stream.calls === "buffered" && ask.body["tool_stream"] !== true;
  if (isBuffered || stream.calls === "whole") return [callBit([stream.call(call)])];
  const { index, id, name } = call;
  const pieces = call.arguments.match(/.{1,12}/gsu) ?? [];
  const more = (text: string): Json => {
    if (stream.calls === "blank-ids") return { index, id: "", type: "function", function: { arguments: text } };
    return { index, function: { ...(stream.calls === "blank-names" ? { name: "" } : {}), arguments: text } };
  };
  return [
    callBit([{ index, id, type: "function", function: { name, arguments: "" } }]),
    ...pieces.map((piece) => callBit([more(piece)])),
    ...(stream.calls === "blank-ids" ? [callBit([more("")])] : []),
  ];
};

/** The chunks that end an answer and count it. */
const ending = (spoken: Spoken, ask: ChatAsk, write: Write): readonly Json[] => {
  const { quirks } = ask.provider;
  const stream = streamQuirks(ask);
  const usage = quirks.usage(spoken.usage, ask);
  const choice = lastChoice(spoken, finishOf(spoken, ask), ask);
  const own = isAsked(ask) ? [write({ choices: [], usage })] : [];
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

const lastChoice = (spoken: Spoken, finish: ChatFinish, ask: ChatAsk): Json => {
  const stream = streamQuirks(ask);
  const calls = stream.endsWithCalls ? bitsOf(spoken, ask).find(({ kind }) => kind === "calls") : undefined;
  const { kind, core } = calls ?? { kind: "end" as const, core: {} };
  return stream.choice(stream.delta(core, stepOf(kind, { isFirst: false, spoken, ask })), finish);
};

const isAsked = ({ body }: ChatAsk): boolean => asObject(body["stream_options"])["include_usage"] === true;

/** Writes one chunk. */
type Write = (body: Pick<ChatBody, "choices" | "usage">) => Json;

const writerOf = (ask: ChatAsk): Write => {
  const { quirks } = ask.provider;
  const { noUsage, padding } = streamQuirks(ask);
  const id = quirks.answerId(ask);
  const empty = noUsage === "null" || (noUsage === "null-if-asked" && isAsked(ask)) ? { usage: null } : {};
  const isPadded = asObject(ask.body["stream_options"])["include_obfuscation"] !== false;
  return (body) => {
    const chunk = quirks.envelope({ ...empty, ...body, id, kind: "chat.completion.chunk" }, ask);
    if (padding === undefined || !isPadded) return chunk;
    return { ...chunk, [padding]: smallLetters.slice(0, 1 + (JSON.stringify(body).length % smallLetters.length)) };
  };
};

/** A failure inside a stream, as each vendor breaks it off. */
export const streamFailure: NonNullable<Family<ChatQuirks>["streamError"]> = (refusal, ask) => {
  const { quirks, id } = ask.provider;
  const { body } = quirks.errors(refusal, requestNumber(id, ask.ordinal));
  switch (streamQuirks(ask).failure) {
    case "plain":
      return eventOf(body);
    case "event":
      return errorEvent({ ...asObject(body["error"]), status_code: refusal.status });
    case "chunk": {
      const choice = streamQuirks(ask).choice({ content: "", role: "assistant" }, { reason: "error", native: "error" });
      const { choices, ...head } = writerOf(ask)({ choices: [choice] });
      const error = { code: refusal.status, message: refusal.message };
      return eventOf({ ...head, error, choices });
    }
  }
};
