import type { Json, ApiRefusal, SimResponse } from "../family.ts";
import { asObject } from "../json.ts";
import { initialState, finalState, responseJson } from "./response.ts";
import { addedItemJson, argumentsOf, contentPart, itemJson, itemsOf, type OutputItem, summaryPart } from "./items.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { errorOf } from "./errors.ts";
import { splitIntoDeltas } from "../split-text.ts";

/** One event before it has its number. */
type ResponsesStreamEvent = { readonly type: string; readonly fields: Json };

/** The answer as server-sent events, numbered from 0. There is no `[DONE]`. */
export const encodeStream = (spoken: SimResponse, ask: ResponsesSimRequest): readonly string[] => {
  const end = finalState(spoken, ask);
  const items = end.status === "failed" ? [] : itemsOf(spoken, ask);
  const events: readonly ResponsesStreamEvent[] = [
    { type: "response.created", fields: { response: responseJson(initialState, ask) } },
    { type: "response.in_progress", fields: { response: responseJson(initialState, ask) } },
    ...items.flatMap((item, index) => itemEvents(item, index, ask)),
    { type: `response.${end.status}`, fields: { response: responseJson(end, ask) } },
  ];
  return events.map((event, number) => encodeEvent(event, number, ask));
};

/** A failure inside a stream. Its number is not counted on. */
export const encodeStreamError = (refusal: ApiRefusal, ask: ResponsesSimRequest): string => {
  const { code, message, param } = errorOf(refusal);
  return encodeEvent({ type: "error", fields: { code, message, param } }, 0, ask);
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

const itemEvents = (item: OutputItem, index: number, ask: ResponsesSimRequest): readonly ResponsesStreamEvent[] => [
  { type: "response.output_item.added", fields: { item: addedItemJson(item, ask), output_index: index } },
  ...contentEvents(item, { item_id: item.id, output_index: index }, ask),
  { type: "response.output_item.done", fields: { item: itemJson(item, ask), output_index: index } },
];

/** Which item an event is about. */
type EventItem = { readonly item_id: string; readonly output_index: number };

const contentEvents = (
  item: OutputItem,
  about: EventItem,
  ask: ResponsesSimRequest,
): readonly ResponsesStreamEvent[] => {
  switch (item.kind) {
    case "reasoning":
      return item.summary.flatMap((text, summary_index) => summaryEvents(text, { ...about, summary_index }, ask));
    case "message":
      return messageEvents(item, about, ask);
    case "call":
      return callEvents(argumentsOf(item), about, ask);
    case "search":
      return ["in_progress", "searching", "completed"].map((state) => ({
        type: `response.web_search_call.${state}`,
        fields: about,
      }));
    case "picture":
      return ["in_progress", "generating", "completed"].map((state) => ({
        type: `response.image_generation_call.${state}`,
        fields: about,
      }));
  }
};

const summaryEvents = (
  text: string,
  about: EventItem & { readonly summary_index: number },
  ask: ResponsesSimRequest,
): readonly ResponsesStreamEvent[] => [
  { type: "response.reasoning_summary_part.added", fields: { ...about, part: summaryPart("") } },
  ...splitIntoDeltas(text).map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    fields: { delta, ...about, ...obfuscationField(delta, ask) },
  })),
  { type: "response.reasoning_summary_text.done", fields: { ...about, text } },
  { type: "response.reasoning_summary_part.done", fields: { ...about, part: summaryPart(text) } },
];

const messageEvents = (
  item: Extract<OutputItem, { kind: "message" }>,
  about: EventItem,
  ask: ResponsesSimRequest,
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
            fields: { delta, ...at, logprobs: [], ...obfuscationField(delta, ask) },
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

/** xAI sends the arguments of a call in one piece. */
const callEvents = (text: string, about: EventItem, ask: ResponsesSimRequest): readonly ResponsesStreamEvent[] => [
  ...(ask.provider.quirks.vendor === "xai" ? [text] : splitArguments(text)).map((delta) => ({
    type: "response.function_call_arguments.delta",
    fields: { delta, ...about, ...obfuscationField(delta, ask) },
  })),
  { type: "response.function_call_arguments.done", fields: { arguments: text, ...about } },
];

/** A text in pieces of a few letters, about as long as a token. */
const splitArguments = (text: string): readonly string[] => text.match(/.{1,7}/gsu) ?? [];

/** Letters that hide how long a piece is, unless the request wants none. xAI hides nothing. */
const obfuscationField = (delta: string, { body, provider }: ResponsesSimRequest): Json => {
  const isOff = asObject(body["stream_options"])["include_obfuscation"] === false;
  if (isOff || provider.quirks.vendor === "xai") return {};
  return { obfuscation: obfuscationLetters.slice(0, 16 - (delta.length % 16)) };
};

const obfuscationLetters = "x8Kq3ZtW5mRb7LdY";
