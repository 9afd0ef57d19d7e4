import { isObject } from "../conversation/json.ts";
import { tokens, type Modality, type Usage } from "./decode.ts";
import { arrayOf, numberOf, objectOf } from "./reader.ts";

/** The tokens a chunk counts, wherever the server puts them; undefined where it counts none. */
export const chatUsage = (chunk: Record<string, unknown>): Usage | undefined =>
  usageOf(chunk["usage"]) ??
  usageOf(objectOf(arrayOf(chunk["choices"])[0])["usage"]) ??
  usageOf(objectOf(chunk["x_groq"])["usage"]);

const usageOf = (value: unknown): Usage | undefined => {
  if (!isObject(value)) return undefined;
  const { prompt_tokens: asked, completion_tokens: answered } = value;
  if (numberOf(asked) === undefined && numberOf(answered) === undefined) return undefined;
  const details = objectOf(value["prompt_tokens_details"]);
  const input = tokens(asked) || tokens(value["prompt_cache_hit_tokens"]) + tokens(value["prompt_cache_miss_tokens"]);
  const inputBy = modalities(details);
  return {
    input,
    cachedRead: Math.min(input, cachedRead(value, details)),
    cachedWrite: Math.min(
      input,
      tokens(details["cache_write_tokens"]) || tokens(details["cache_creation_input_tokens"]),
    ),
    ...outputOf(value, input),
    ...(inputBy === undefined ? {} : { inputBy }),
  };
};

const cachedRead = (usage: Record<string, unknown>, details: Record<string, unknown>): number =>
  tokens(details["cached_tokens"]) ||
  tokens(usage["prompt_cache_hit_tokens"]) ||
  tokens(usage["cached_tokens"]) ||
  tokens(usage["num_cached_tokens"]);

/** Some servers count reasoning beside the answer and not in it; the total tells which. */
const outputOf = (usage: Record<string, unknown>, input: number): Pick<Usage, "output" | "reasoning"> => {
  const answer = tokens(usage["completion_tokens"]);
  const reasoning =
    tokens(objectOf(usage["completion_tokens_details"])["reasoning_tokens"]) || tokens(usage["reasoning_tokens"]);
  const total = numberOf(usage["total_tokens"]);
  const isBeside = total === undefined ? reasoning > answer : total >= input + answer + reasoning;
  const output = isBeside ? answer + reasoning : answer;
  return { output, reasoning: Math.min(output, reasoning) };
};

const counted: readonly (readonly [Modality, string])[] = [
  ["text", "text_tokens"],
  ["image", "image_tokens"],
  ["audio", "audio_tokens"],
  ["video", "video_tokens"],
];

const modalities = (details: Record<string, unknown>): Usage["inputBy"] => {
  const found = counted.flatMap(([modality, field]) => {
    const count = tokens(details[field]);
    return count === 0 ? [] : [[modality, count] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
};
