import { isObject } from "../../conversation/json.ts";
import { toTokenCount, type UsageModality, type TokenUsage } from "../decode/events.ts";
import { arrayOf, numberOf, objectOf } from "../reader.ts";

/** Parses the usage of a chunk, wherever the server puts it; undefined if there is none. */
export const chatUsage = (chunk: Record<string, unknown>): TokenUsage | undefined =>
  usageOf(chunk["usage"]) ??
  usageOf(objectOf(arrayOf(chunk["choices"])[0])["usage"]) ??
  usageOf(objectOf(chunk["x_groq"])["usage"]);

const usageOf = (value: unknown): TokenUsage | undefined => {
  if (!isObject(value)) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  if (numberOf(promptTokens) === undefined && numberOf(completionTokens) === undefined) return undefined;
  const details = objectOf(value["prompt_tokens_details"]);
  const input =
    toTokenCount(promptTokens) ||
    toTokenCount(value["prompt_cache_hit_tokens"]) + toTokenCount(value["prompt_cache_miss_tokens"]);
  const inputBy = inputByModality(details);
  return {
    input,
    cachedRead: Math.min(input, cachedRead(value, details)),
    cachedWrite: Math.min(
      input,
      toTokenCount(details["cache_write_tokens"]) || toTokenCount(details["cache_creation_input_tokens"]),
    ),
    ...outputOf(value, input),
    ...(inputBy === undefined ? {} : { inputBy }),
  };
};

const cachedRead = (usage: Record<string, unknown>, details: Record<string, unknown>): number =>
  toTokenCount(details["cached_tokens"]) ||
  toTokenCount(usage["prompt_cache_hit_tokens"]) ||
  toTokenCount(usage["cached_tokens"]) ||
  toTokenCount(usage["num_cached_tokens"]);

/** Some servers count reasoning in addition to the completion tokens; the total shows which. */
const outputOf = (usage: Record<string, unknown>, input: number): Pick<TokenUsage, "output" | "reasoning"> => {
  const answer = toTokenCount(usage["completion_tokens"]);
  const reasoning =
    toTokenCount(objectOf(usage["completion_tokens_details"])["reasoning_tokens"]) ||
    toTokenCount(usage["reasoning_tokens"]);
  const total = numberOf(usage["total_tokens"]);
  const isBeside = total === undefined ? reasoning > answer : total >= input + answer + reasoning;
  const output = isBeside ? answer + reasoning : answer;
  return { output, reasoning: Math.min(output, reasoning) };
};

const modalityFields: readonly (readonly [UsageModality, string])[] = [
  ["text", "text_tokens"],
  ["image", "image_tokens"],
  ["audio", "audio_tokens"],
  ["video", "video_tokens"],
];

const inputByModality = (details: Record<string, unknown>): TokenUsage["inputBy"] => {
  const found = modalityFields.flatMap(([modality, field]) => {
    const count = toTokenCount(details[field]);
    return count === 0 ? [] : [[modality, count] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
};
