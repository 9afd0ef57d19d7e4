import type { Json, Refusal, Spoken } from "./family.ts";
import { asObject } from "./json.ts";
import { begun, ended, responseJson } from "./openai-responses-answer.ts";
import {
  announcedJson,
  argumentsOf,
  contentPart,
  itemJson,
  itemsOf,
  type OutputItem,
  summaryPart,
} from "./openai-responses-items.ts";
import type { ResponsesAsk } from "./openai-responses-providers.ts";
import { errorOf } from "./openai-responses-refusal.ts";
import { deltas } from "./split.ts";

/** One event before it has its number. */
type Event = { readonly type: string; readonly fields: Json };

/** The answer as server-sent events, numbered from 0. There is no `[DONE]`. */
export const streamResponses = (spoken: Spoken, ask: ResponsesAsk): readonly string[] => {
  const end = ended(spoken, ask);
  const items = end.status === "failed" ? [] : itemsOf(spoken, ask);
  const events: readonly Event[] = [
    { type: "response.created", fields: { response: responseJson(begun, ask) } },
    { type: "response.in_progress", fields: { response: responseJson(begun, ask) } },
    ...items.flatMap((item, index) => itemEvents(item, index, ask)),
    { type: `response.${end.status}`, fields: { response: responseJson(end, ask) } },
  ];
  return events.map((event, number) => framed(event, number, ask));
};

/** A failure inside a stream. Its number is not counted on. */
export const streamError = (refusal: Refusal, ask: ResponsesAsk): string => {
  const { code, message, param } = errorOf(refusal);
  return framed({ type: "error", fields: { code, message, param } }, 0, ask);
};

const framed = ({ type, fields }: Event, number: number, { provider }: ResponsesAsk): string => {
  const json =
    provider.quirks.manner === "xai"
      ? { sequence_number: number, type, ...fields }
      : { type, ...fields, sequence_number: number };
  return `event: ${type}\ndata: ${JSON.stringify(json)}\n\n`;
};

const itemEvents = (item: OutputItem, index: number, ask: ResponsesAsk): readonly Event[] => [
  { type: "response.output_item.added", fields: { item: announcedJson(item, ask), output_index: index } },
  ...saidEvents(item, { item_id: item.id, output_index: index }, ask),
  { type: "response.output_item.done", fields: { item: itemJson(item, ask), output_index: index } },
];

/** Which item an event is about. */
type About = { readonly item_id: string; readonly output_index: number };

const saidEvents = (item: OutputItem, about: About, ask: ResponsesAsk): readonly Event[] => {
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
  about: About & { readonly summary_index: number },
  ask: ResponsesAsk,
): readonly Event[] => [
  { type: "response.reasoning_summary_part.added", fields: { ...about, part: summaryPart("") } },
  ...deltas(text).map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    fields: { delta, ...about, ...obfuscated(delta, ask) },
  })),
  { type: "response.reasoning_summary_text.done", fields: { ...about, text } },
  { type: "response.reasoning_summary_part.done", fields: { ...about, part: summaryPart(text) } },
];

const messageEvents = (
  item: Extract<OutputItem, { kind: "message" }>,
  about: About,
  ask: ResponsesAsk,
): readonly Event[] => {
  const at = { content_index: 0, ...about };
  const { text, isRefusal, annotations } = item;
  return [
    { type: "response.content_part.added", fields: { ...at, part: contentPart(item, "") } },
    ...deltas(text).map((delta) =>
      isRefusal
        ? { type: "response.refusal.delta", fields: { delta, ...at } }
        : { type: "response.output_text.delta", fields: { delta, ...at, logprobs: [], ...obfuscated(delta, ask) } },
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
const callEvents = (text: string, about: About, ask: ResponsesAsk): readonly Event[] => [
  ...(ask.provider.quirks.manner === "xai" ? [text] : pieces(text)).map((delta) => ({
    type: "response.function_call_arguments.delta",
    fields: { delta, ...about, ...obfuscated(delta, ask) },
  })),
  { type: "response.function_call_arguments.done", fields: { arguments: text, ...about } },
];

/** A text in pieces of a few letters, about as long as a token. */
const pieces = (text: string): readonly string[] => text.match(/.{1,7}/gsu) ?? [];

/** Letters that hide how long a piece is, unless the request wants none. xAI hides nothing. */
const obfuscated = (delta: string, { body, provider }: ResponsesAsk): Json => {
  const isOff = asObject(body["stream_options"])["include_obfuscation"] === false;
  if (isOff || provider.quirks.manner === "xai") return {};
  return { obfuscation: letters.slice(0, 16 - (delta.length % 16)) };
};

const letters = "x8Kq3ZtW5mRb7LdY";
