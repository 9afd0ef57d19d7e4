import type { Json, SimUsage } from "../family.ts";
import { detailsOf, firstTokens } from "./prompt.ts";
import type { GeminiSimRequest } from "./request.ts";

/** The output tokens of a response, or of its first chunks. */
export type GeminiTokens = {
  readonly thoughts: number;
  /** Text, calls and images. */
  readonly answer: number;
  /** The part of `answer` that is images. */
  readonly images: number;
  /** Prompt tokens added by server tools. */
  readonly tools: number;
};

/**
 * Encodes `usageMetadata`: the prompt includes cached tokens, the candidates exclude thoughts. Zero counts are omitted.
 */
export const usageOf = (usage: SimUsage, request: GeminiSimRequest): ((spent: GeminiTokens) => Json) => {
  const { serviceTier, trafficType } = request.provider.quirks.tier;
  const cached = usage.cachedRead === 0 ? [] : detailsOf(firstTokens(request, usage.cachedRead));
  return (spent) =>
    omitEmpty({
      promptTokenCount: usage.input,
      candidatesTokenCount: spent.answer,
      totalTokenCount: usage.input + spent.answer + spent.thoughts + spent.tools,
      cachedContentTokenCount: usage.cachedRead,
      trafficType,
      promptTokensDetails: detailsOf(usage.inputBy),
      cacheTokensDetails: cached,
      candidatesTokensDetails: answerDetails(spent, request),
      toolUsePromptTokenCount: spent.tools,
      toolUsePromptTokensDetails: detailsOf({ text: spent.tools }),
      thoughtsTokenCount: spent.thoughts,
      serviceTier,
    });
};

/** The Gemini API lists only image tokens separately. */
const answerDetails = ({ answer, images }: GeminiTokens, request: GeminiSimRequest): readonly unknown[] =>
  detailsOf(request.provider.quirks.hasTimestamps ? { text: answer - images, image: images } : { image: images });

/** Removes empty fields. */
export const omitEmpty = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);

/** Encodes the countTokens response. */
export const encodeCount = (usage: SimUsage, request: GeminiSimRequest): Json =>
  request.provider.quirks.endpoint === "code-assist"
    ? { totalTokens: usage.input }
    : { totalTokens: usage.input, promptTokensDetails: detailsOf(usage.inputBy) };
