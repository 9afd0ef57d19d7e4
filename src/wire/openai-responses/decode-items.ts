import { toTokenCount, type ResponsePart, type TokenUsage } from "../decode/events.ts";
import { shortName } from "../decode/fold.ts";
import { newCall } from "../openai/read.ts";
import { messageSeal, readReasoning } from "./read.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";

/** One piece of an item's content: a part, or `what` names something a conversation cannot hold. */
export type ItemContent =
  | { readonly slot: number; readonly part: ResponsePart }
  | { readonly slot: number; readonly what: string };

type ResponsesItemFields = Record<string, unknown>;

/** Returns the content of a finished item, as the request reader would read it. */
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

/** Returns the texts of a message, sealed with its id. */
const messageContents = (item: ResponsesItemFields): readonly ItemContent[] => {
  const { content } = item;
  const seal = messageSeal(item);
  const contents =
    typeof content === "string" ? [{ type: "output_text", text: content }] : arrayOf(content).map(objectOf);
  return contents.flatMap((part, slot): readonly ItemContent[] => {
    const text = stringOf(part[part["type"] === "refusal" ? "refusal" : "text"]);
    if (text === undefined) return [{ slot, what: shortName(part["type"]) }];
    const textContent: ItemContent = {
      slot,
      part: { type: "text", text, ...(seal === undefined ? {} : { seal }) },
    };
    const skippedFields = ["annotations", "logprobs"].filter((field) => arrayOf(part[field]).length > 0);
    return [textContent, ...skippedFields.map((what) => ({ slot, what }))];
  });
};

/** Returns the reasoning of an item; empty reasoning without a seal is dropped. */
const reasoningContents = (item: ResponsesItemFields): readonly ItemContent[] => {
  const part = readReasoning(item);
  return part.seal !== undefined || part.text !== "" ? [{ slot: 0, part }] : [];
};

const generatedImage = ({ result, output_format: format }: ResponsesItemFields): ItemContent =>
  typeof result === "string" && result !== ""
    ? { slot: 0, part: { type: "file", mimeType: `image/${stringOf(format) ?? "png"}`, data: result } }
    : { slot: 0, what: "a picture that was not made" };

/** The kind of part an item becomes; `other` for items a conversation cannot hold. */
export type ItemKind = "text" | "thinking" | "call" | "other";

/** Returns the kind of part an item becomes. */
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

/** Whether a message is a refusal. */
export const isRefusal = ({ content }: ResponsesItemFields): boolean =>
  arrayOf(content).some((part) => objectOf(part)["type"] === "refusal");

/** Parses a usage; undefined if it counts nothing. Some servers count reasoning in addition to the output tokens. */
export const responsesUsage = (usage: ResponsesItemFields): TokenUsage | undefined => {
  const inputDetails = objectOf(usage["input_tokens_details"]);
  const input = toTokenCount(usage["input_tokens"]);
  const outputTokens = toTokenCount(usage["output_tokens"]);
  const reasoning = toTokenCount(objectOf(usage["output_tokens_details"])["reasoning_tokens"]);
  if (input === 0 && outputTokens === 0) return undefined;
  return {
    input,
    cachedRead: toTokenCount(inputDetails["cached_tokens"]),
    cachedWrite: toTokenCount(inputDetails["cache_write_tokens"]),
    output: reasoning > outputTokens ? outputTokens + reasoning : outputTokens,
    reasoning,
  };
};
