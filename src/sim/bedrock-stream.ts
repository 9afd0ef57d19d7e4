import { EventStreamCodec } from "@smithy/eventstream-codec";
import { type AnswerBlock, blocksOf, metricsOf, stopReasons, usageOf } from "./bedrock-answer.ts";
import type { BedrockAsk } from "./bedrock-providers.ts";
import { exceptionOf } from "./bedrock-refusal.ts";
import type { Json, Refusal, Spoken } from "./family.ts";
import { deltas } from "./split.ts";

/** One event before it is framed. */
type Event = { readonly type: string; readonly fields: Json };

/** The answer as frames of an AWS event stream. What it has cost comes after its end. */
export const streamBedrock = (spoken: Spoken, ask: BedrockAsk): readonly Uint8Array[] => {
  const blocks: readonly AnswerBlock[] = [...emptyFirst(ask), ...blocksOf(spoken, ask)];
  const events: readonly Event[] = [
    { type: "messageStart", fields: { role: "assistant" } },
    ...blocks.flatMap(blockEvents),
    { type: "messageStop", fields: { stopReason: stopReasons[spoken.finish] } },
    { type: "metadata", fields: { metrics: metricsOf(spoken), usage: usageOf(spoken.usage, ask) } },
  ];
  return events.map(({ type, fields }, index) =>
    frame(
      { ":event-type": type, ":content-type": json, ":message-type": "event" },
      padded(fields, index + ask.ordinal),
    ),
  );
};

/** A failure inside a stream is an exception, whose name begins in lower case. */
export const streamError = (refusal: Refusal): Uint8Array => {
  const { type, message } = exceptionOf(refusal);
  const name = members.includes(type) ? type : "ModelStreamErrorException";
  return frame(
    {
      ":exception-type": name.charAt(0).toLowerCase() + name.slice(1),
      ":content-type": json,
      ":message-type": "exception",
    },
    { message },
  );
};

/** The exceptions a stream can carry. */
const members = [
  "InternalServerException",
  "ModelStreamErrorException",
  "ValidationException",
  "ThrottlingException",
  "ServiceUnavailableException",
];

const json = "application/json";

/** Open models of OpenAI begin with a block of nothing. */
const emptyFirst = ({ model }: BedrockAsk): readonly AnswerBlock[] =>
  model.includes("openai.") ? [{ kind: "text", text: "" }] : [];

/** Only calls and pictures are announced. Of text and thoughts the first piece is the beginning. */
const blockEvents = (block: AnswerBlock, contentBlockIndex: number): readonly Event[] => {
  const start = startOf(block);
  return [
    ...(start === undefined ? [] : [{ type: "contentBlockStart", fields: { contentBlockIndex, start } }]),
    ...deltasOf(block).map((delta) => ({ type: "contentBlockDelta", fields: { contentBlockIndex, delta } })),
    { type: "contentBlockStop", fields: { contentBlockIndex } },
  ];
};

const startOf = (block: AnswerBlock): Json | undefined => {
  switch (block.kind) {
    case "call":
      return { toolUse: { name: block.name, toolUseId: block.id, ...block.type } };
    case "picture":
      return { image: { format: block.format } };
    case "text":
    case "thought":
    case "redacted":
    case "citing":
      return undefined;
  }
};

const deltasOf = (block: AnswerBlock): readonly Json[] => {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [{ text: "" }] : deltas(block.text).map((text) => ({ text }));
    case "thought":
      return [
        ...deltas(block.text).map((text) => ({ reasoningContent: { text } })),
        ...(block.signature === undefined ? [] : [{ reasoningContent: { signature: block.signature } }]),
      ];
    case "redacted":
      return [{ reasoningContent: { redactedContent: block.data } }];
    case "call":
      return pieces(block.input).map((input) => ({ toolUse: { input } }));
    case "citing":
      return [...deltas(block.text).map((text) => ({ text })), ...block.citations.map((citation) => ({ citation }))];
    case "picture":
      return [{ image: { source: { bytes: block.data } } }];
  }
};

/** Arguments in pieces of a few letters. Those of a call without any are not sent at all. */
const pieces = (text: string): readonly string[] => (text === "{}" ? [] : (text.match(/.{1,9}/gsu) ?? []));

/** AWS hides how long an event is behind letters of its own, and sorts its fields. */
const padded = (fields: Json, number: number): Json =>
  Object.fromEntries(
    Object.entries({ ...fields, p: alphabet.slice(0, 2 + ((number * 23) % 60)) }).toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    ),
  );

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

const frame = (headers: { readonly [name: string]: string }, fields: Json): Uint8Array =>
  codec().encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]),
    ),
    body: new TextEncoder().encode(JSON.stringify(fields)),
  });

const codec = (): EventStreamCodec =>
  new EventStreamCodec(
    (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
    (text) => new TextEncoder().encode(text),
  );
