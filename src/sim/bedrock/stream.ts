import { EventStreamCodec } from "@smithy/eventstream-codec";
import { type BedrockResponseBlock, responseBlocks, metricsOf, stopReasons, usageOf } from "./response.ts";
import type { BedrockSimRequest } from "./providers.ts";
import { exceptionOf } from "./errors.ts";
import type { Json, ApiRefusal, SimResponse } from "../family.ts";
import { splitIntoDeltas } from "../split-text.ts";

/** One event before framing. */
type BedrockStreamEvent = { readonly type: string; readonly fields: Json };

/** Encodes the response as frames of an AWS event stream. Usage follows the end of the message. */
export const encodeStream = (response: SimResponse, request: BedrockSimRequest): readonly Uint8Array[] => {
  const blocks: readonly BedrockResponseBlock[] = [...openingBlocks(request), ...responseBlocks(response, request)];
  const events: readonly BedrockStreamEvent[] = [
    { type: "messageStart", fields: { role: "assistant" } },
    ...blocks.flatMap(blockEvents),
    { type: "messageStop", fields: { stopReason: stopReasons[response.finish] } },
    { type: "metadata", fields: { metrics: metricsOf(response), usage: usageOf(response.usage, request) } },
  ];
  return events.map(({ type, fields }, index) =>
    encodeFrame(
      { ":event-type": type, ":content-type": json, ":message-type": "event" },
      padFields(fields, index + request.ordinal),
    ),
  );
};

/** Encodes an error inside a stream: an exception whose name begins in lower case. */
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

/** The exception types of a stream. */
const streamExceptions = [
  "InternalServerException",
  "ModelStreamErrorException",
  "ValidationException",
  "ThrottlingException",
  "ServiceUnavailableException",
];

const json = "application/json";

/** OpenAI's open models start with an empty block. */
const openingBlocks = ({ model }: BedrockSimRequest): readonly BedrockResponseBlock[] =>
  model.includes("openai.") ? [{ kind: "text", text: "" }] : [];

/** Only calls and images have a start event; text and reasoning start with their first delta. */
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
    case "image":
      return { image: { format: block.format } };
    case "text":
    case "reasoning":
    case "redacted":
    case "citations":
      return undefined;
  }
};

const deltasOf = (block: BedrockResponseBlock): readonly Json[] => {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [{ text: "" }] : splitIntoDeltas(block.text).map((text) => ({ text }));
    case "reasoning":
      return [
        ...splitIntoDeltas(block.text).map((text) => ({ reasoningContent: { text } })),
        ...(block.signature === undefined ? [] : [{ reasoningContent: { signature: block.signature } }]),
      ];
    case "redacted":
      return [{ reasoningContent: { redactedContent: block.data } }];
    case "call":
      return splitArguments(block.input).map((input) => ({ toolUse: { input } }));
    case "citations":
      return [
        ...splitIntoDeltas(block.text).map((text) => ({ text })),
        ...block.citations.map((citation) => ({ citation })),
      ];
    case "image":
      return [{ image: { source: { bytes: block.data } } }];
  }
};

/** Splits arguments into short deltas. Empty arguments are not sent. */
const splitArguments = (text: string): readonly string[] => (text === "{}" ? [] : (text.match(/.{1,9}/gsu) ?? []));

/** Adds padding that hides the length of an event, and sorts the fields, as AWS does. */
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
