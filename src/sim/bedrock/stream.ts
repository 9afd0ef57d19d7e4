import { EventStreamCodec } from "@smithy/eventstream-codec";
import { type BedrockResponseBlock, responseBlocks, metricsOf, stopReasons, usageOf } from "./response.ts";
import type { BedrockSimRequest } from "./providers.ts";
import { exceptionOf } from "./errors.ts";
import type { Json, ApiRefusal, SimResponse } from "../family.ts";
import { splitIntoDeltas } from "../split-text.ts";

/** One event before it is framed. */
type BedrockStreamEvent = { readonly type: string; readonly fields: Json };

/** The answer as frames of an AWS event stream. What it has cost comes after its end. */
export const encodeStream = (spoken: SimResponse, ask: BedrockSimRequest): readonly Uint8Array[] => {
  const blocks: readonly BedrockResponseBlock[] = [...openingBlocks(ask), ...responseBlocks(spoken, ask)];
  const events: readonly BedrockStreamEvent[] = [
    { type: "messageStart", fields: { role: "assistant" } },
    ...blocks.flatMap(blockEvents),
    { type: "messageStop", fields: { stopReason: stopReasons[spoken.finish] } },
    { type: "metadata", fields: { metrics: metricsOf(spoken), usage: usageOf(spoken.usage, ask) } },
  ];
  return events.map(({ type, fields }, index) =>
    encodeFrame(
      { ":event-type": type, ":content-type": json, ":message-type": "event" },
      padFields(fields, index + ask.ordinal),
    ),
  );
};

/** A failure inside a stream is an exception, whose name begins in lower case. */
export const encodeStreamError = (refusal: ApiRefusal): Uint8Array => {
  const { type, message } = exceptionOf(refusal);
  const name = streamExceptions.includes(type) ? type : "ModelStreamErrorException";
  return encodeFrame(
    {
      ":exception-type": name.charAt(0).toLowerCase() + name.slice(1),
      ":content-type": json,
      ":message-type": "exception",
    },
    { message },
  );
};

/** The exceptions a stream can carry. */
const streamExceptions = [
  "InternalServerException",
  "ModelStreamErrorException",
  "ValidationException",
  "ThrottlingException",
  "ServiceUnavailableException",
];

const json = "application/json";

/** Open models of OpenAI begin with a block of nothing. */
const openingBlocks = ({ model }: BedrockSimRequest): readonly BedrockResponseBlock[] =>
  model.includes("openai.") ? [{ kind: "text", text: "" }] : [];

/** Only calls and pictures are announced. Of text and thoughts the first piece is the beginning. */
const blockEvents = (block: BedrockResponseBlock, contentBlockIndex: number): readonly BedrockStreamEvent[] => {
  const start = startFields(block);
  return [
    ...(start === undefined ? [] : [{ type: "contentBlockStart", fields: { contentBlockIndex, start } }]),
    ...deltasOf(block).map((delta) => ({ type: "contentBlockDelta", fields: { contentBlockIndex, delta } })),
    { type: "contentBlockStop", fields: { contentBlockIndex } },
  ];
};

const startFields = (block: BedrockResponseBlock): Json | undefined => {
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

const deltasOf = (block: BedrockResponseBlock): readonly Json[] => {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [{ text: "" }] : splitIntoDeltas(block.text).map((text) => ({ text }));
    case "thought":
      return [
        ...splitIntoDeltas(block.text).map((text) => ({ reasoningContent: { text } })),
        ...(block.signature === undefined ? [] : [{ reasoningContent: { signature: block.signature } }]),
      ];
    case "redacted":
      return [{ reasoningContent: { redactedContent: block.data } }];
    case "call":
      return splitArguments(block.input).map((input) => ({ toolUse: { input } }));
    case "citing":
      return [
        ...splitIntoDeltas(block.text).map((text) => ({ text })),
        ...block.citations.map((citation) => ({ citation })),
      ];
    case "picture":
      return [{ image: { source: { bytes: block.data } } }];
  }
};

/** Arguments in pieces of a few letters. Those of a call without any are not sent at all. */
const splitArguments = (text: string): readonly string[] => (text === "{}" ? [] : (text.match(/.{1,9}/gsu) ?? []));

/** AWS hides how long an event is behind letters of its own, and sorts its fields. */
const padFields = (fields: Json, number: number): Json =>
  Object.fromEntries(
    Object.entries({ ...fields, p: alphabet.slice(0, 2 + ((number * 23) % 60)) }).toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    ),
  );

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

const encodeFrame = (headers: { readonly [name: string]: string }, fields: Json): Uint8Array =>
  createCodec().encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]),
    ),
    body: new TextEncoder().encode(JSON.stringify(fields)),
  });

const createCodec = (): EventStreamCodec =>
  new EventStreamCodec(
    (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
    (text) => new TextEncoder().encode(text),
  );
