import type { Json, ApiRefusal, SimResponse } from "../family.ts";
import { asObject } from "../json.ts";
import { initialState, finalState, responseJson } from "./response.ts";
import { addedItemJson, argumentsOf, contentPart, itemJson, itemsOf, type OutputItem, summaryPart } from "./items.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { errorOf } from "./errors.ts";
import { splitIntoDeltas } from "../split-text.ts";

/** One event before numbering. */
type ResponsesStreamEvent = { readonly type: string; readonly fields: Json };

/** Encodes the response as server-sent events, numbered from 0. There is no `[DONE]`. */
export const encodeStream = (response: SimResponse, request: ResponsesSimRequest): readonly string[] => {
  const end = finalState(response, request);
  const items = end.status === "failed" ? [] : itemsOf(response, request);
  const events: readonly ResponsesStreamEvent[] = [
    { type: "response.created", fields: { response: responseJson(initialState, request) } },
    { type: "response.in_progress", fields: { response: responseJson(initialState, request) } },
    ...items.flatMap((item, index) => itemEvents(item, index, request)),
    { type: `response.${end.status}`, fields: { response: responseJson(end, request) } },
  ];
  return events.map((event, number) => encodeEvent(event, number, request));
};

/** Encodes an error inside a stream, always with number 0. */
export const encodeStreamError = (refusal: ApiRefusal, request: ResponsesSimRequest): string => {
  const { code, message, param } = errorOf(refusal);
  return encodeEvent({ type: "error", fields: { code, message, param } }, 0, request);
};

const encodeEvent = (
  { type, fields }: ResponsesStreamEvent,
  number: number,
  { provider }: ResponsesSimRequest,
): string => {
  const json =
    provider.quirks.vendor === "xai"
      ? { sequence_number: number, type, ...fields }
      : { type, ...fields, sequence_number: number };
  return `event: ${type}\ndata: ${JSON.stringify(json)}\n\n`;
};

const itemEvents = (item: OutputItem, index: number, request: ResponsesSimRequest): readonly ResponsesStreamEvent[] => [
  { type: "response.output_item.added", fields: { item: addedItemJson(item, request), output_index: index } },
  ...contentEvents(item, { item_id: item.id, output_index: index }, request),
  { type: "response.output_item.done", fields: { item: itemJson(item, request), output_index: index } },
];

/** The item of an event. */
type EventItem = { readonly item_id: string; readonly output_index: number };

const contentEvents = (
  item: OutputItem,
  about: EventItem,
  request: ResponsesSimRequest,
): readonly ResponsesStreamEvent[] => {
  switch (item.kind) {
    case "reasoning":
      return item.summary.flatMap((text, summary_index) => summaryEvents(text, { ...about, summary_index }, request));
    case "message":
      return messageEvents(item, about, request);
    case "call":
      return callEvents(argumentsOf(item), about, request);
    case "search":
      return ["in_progress", "searching", "completed"].map((state) => ({
        type: `response.web_search_call.${state}`,
        fields: about,
      }));
    case "image":
      return ["in_progress", "generating", "completed"].map((state) => ({
        type: `response.image_generation_call.${state}`,
        fields: about,
      }));
  }
};

const summaryEvents = (
  text: string,
  about: EventItem & { readonly summary_index: number },
  request: ResponsesSimRequest,
): readonly ResponsesStreamEvent[] => [
  { type: "response.reasoning_summary_part.added", fields: { ...about, part: summaryPart("") } },
  ...splitIntoDeltas(text).map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    fields: { delta, ...about, ...obfuscationField(delta, request) },
  })),
  { type: "response.reasoning_summary_text.done", fields: { ...about, text } },
  { type: "response.reasoning_summary_part.done", fields: { ...about, part: summaryPart(text) } },
];

const messageEvents = (
  item: Extract<OutputItem, { kind: "message" }>,
  about: EventItem,
  request: ResponsesSimRequest,
): readonly ResponsesStreamEvent[] => {
  const at = { content_index: 0, ...about };
  const { text, isRefusal, annotations } = item;
  return [
    { type: "response.content_part.added", fields: { ...at, part: contentPart(item, "") } },
    ...splitIntoDeltas(text).map((delta) =>
      isRefusal
        ? { type: "response.refusal.delta", fields: { delta, ...at } }
        : {
            type: "response.output_text.delta",
            fields: { delta, ...at, logprobs: [], ...obfuscationField(delta, request) },
          },
    ),
    ...annotations.map((annotation, annotation_index) => ({
      type: "response.output_text.annotation.added",
      fields: { annotation, annotation_index, ...at },
    })),
    isRefusal
      ? { type: "response.refusal.done", fields: { ...at, refusal: text } }
      : { type: "response.output_text.done", fields: { ...at, logprobs: [], text } },
    { type: "response.content_part.done", fields: { ...at, part: contentPart(item, text) } },
  ];
};

/** xAI sends the arguments of a call in one delta. */
const callEvents = (text: string, about: EventItem, request: ResponsesSimRequest): readonly ResponsesStreamEvent[] => [
  ...(request.provider.quirks.vendor === "xai" ? [text] : splitArguments(text)).map((delta) => ({
    type: "response.function_call_arguments.delta",
    fields: { delta, ...about, ...obfuscationField(delta, request) },
  })),
  { type: "response.function_call_arguments.done", fields: { arguments: text, ...about } },
];

/** Splits a text into pieces of about a token's length. */
const splitArguments = (text: string): readonly string[] => text.match(/.{1,7}/gsu) ?? [];

/** Padding that hides the length of a delta, unless the request disables it. xAI has none. */
const obfuscationField = (delta: string, { body, provider }: ResponsesSimRequest): Json => {
  const isOff = asObject(body["stream_options"])["include_obfuscation"] === false;
  if (isOff || provider.quirks.vendor === "xai") return {};
  return { obfuscation: obfuscationLetters.slice(0, 16 - (delta.length % 16)) };
};

const obfuscationLetters = "x8Kq3ZtW5mRb7LdY";
