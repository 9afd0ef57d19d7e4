import { toTokenCount, type ResponsePart, type TokenUsage } from "../decode/events.ts";
import { shortName } from "../decode/fold.ts";
import { newCall } from "../openai/read.ts";
import { messageSeal, readReasoning } from "./read.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";

/** What stands in one place of an item: a part, or something that has no place in a message. */
export type ItemContent =
  | { readonly slot: number; readonly part: ResponsePart }
  | { readonly slot: number; readonly what: string };

type ResponsesItemFields = Record<string, unknown>;

/** What a finished item holds, as the reader of this family would read it back. */
export const itemContents = (item: ResponsesItemFields): readonly ItemContent[] => {
  const { id, name: tool, call_id: call } = item;
  switch (item["type"]) {
    case "message":
      return messageContents(item);
    case "reasoning":
      return reasoningContents(item);
    case "function_call":
      return [{ slot: 0, part: newCall({ tool, input: item["arguments"] ?? "", id: call ?? id, item: id }) }];
    case "custom_tool_call":
      return [{ slot: 0, part: newCall({ tool, input: { input: item["input"] }, id: call ?? id, item: id }) }];
    case "image_generation_call":
      return [generatedImage(item)];
    default:
      return [{ slot: 0, what: shortName(item["type"]) }];
  }
};

/** The words of a message go by its id. */
const messageContents = (item: ResponsesItemFields): readonly ItemContent[] => {
  const { content } = item;
  const seal = messageSeal(item);
  const said = typeof content === "string" ? [{ type: "output_text", text: content }] : arrayOf(content).map(objectOf);
  return said.flatMap((part, slot): readonly ItemContent[] => {
    const text = stringOf(part[part["type"] === "refusal" ? "refusal" : "text"]);
    if (text === undefined) return [{ slot, what: shortName(part["type"]) }];
    const words: ItemContent = {
      slot,
      part: { type: "text", text, ...(seal === undefined ? {} : { seal }) },
    };
    const beside = ["annotations", "logprobs"].filter((field) => arrayOf(part[field]).length > 0);
    return [words, ...beside.map((what) => ({ slot, what }))];
  });
};

/** A thought that holds nothing and is sealed by nobody is none. */
const reasoningContents = (item: ResponsesItemFields): readonly ItemContent[] => {
  const part = readReasoning(item);
  return part.seal !== undefined || part.text !== "" ? [{ slot: 0, part }] : [];
};

const generatedImage = ({ result, output_format: format }: ResponsesItemFields): ItemContent =>
  typeof result === "string" && result !== ""
    ? { slot: 0, part: { type: "file", mimeType: `image/${stringOf(format) ?? "png"}`, data: result } }
    : { slot: 0, what: "a picture that was not made" };

/** What an item holds; `other` is what no message does. */
export type ItemKind = "text" | "thinking" | "call" | "other";

/** What kind of part an item will be. */
export const itemKindOf = (item: ResponsesItemFields): ItemKind => {
  switch (item["type"]) {
    case "message":
      return "text";
    case "reasoning":
      return "thinking";
    case "function_call":
    case "custom_tool_call":
      return "call";
    default:
      return "other";
  }
};

/** Whether a message says that the model declines. */
export const isRefusal = ({ content }: ResponsesItemFields): boolean =>
  arrayOf(content).some((part) => objectOf(part)["type"] === "refusal");

/** What a usage counts, if it counts anything. Some servers count reasoning beside the answer, not within it. */
export const responsesUsage = (counted: ResponsesItemFields): TokenUsage | undefined => {
  const read = objectOf(counted["input_tokens_details"]);
  const input = toTokenCount(counted["input_tokens"]);
  const answer = toTokenCount(counted["output_tokens"]);
  const reasoning = toTokenCount(objectOf(counted["output_tokens_details"])["reasoning_tokens"]);
  if (input === 0 && answer === 0) return undefined;
  return {
    input,
    cachedRead: toTokenCount(read["cached_tokens"]),
    cachedWrite: toTokenCount(read["cache_write_tokens"]),
    output: reasoning > answer ? answer + reasoning : answer,
    reasoning,
  };
};
