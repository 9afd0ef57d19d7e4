import type { Json, SimUsage } from "../family.ts";
import { detailsOf, firstTokens } from "./prompt.ts";
import type { GeminiSimRequest } from "./request.ts";

/** What an answer, or the beginning of one, has cost. */
export type GeminiTokens = {
  readonly thoughts: number;
  /** Words, calls and pictures of the answer. */
  readonly answer: number;
  /** How much of the answer is pictures. */
  readonly pictures: number;
  /** What a tool of the server's own has put before the model. */
  readonly tools: number;
};

/** Writes `usageMetadata`: the prompt with what was cached, the answer without its thoughts. What is nothing is left out. */
export const usageOf = (usage: SimUsage, ask: GeminiSimRequest): ((spent: GeminiTokens) => Json) => {
  const { serviceTier, trafficType } = ask.provider.quirks.tier;
  const cached = usage.cachedRead === 0 ? [] : detailsOf(firstTokens(ask, usage.cachedRead));
  return (spent) =>
    omitEmpty({
      promptTokenCount: usage.input,
      candidatesTokenCount: spent.answer,
      totalTokenCount: usage.input + spent.answer + spent.thoughts + spent.tools,
      cachedContentTokenCount: usage.cachedRead,
      trafficType,
      promptTokensDetails: detailsOf(usage.inputBy),
      cacheTokensDetails: cached,
      candidatesTokensDetails: answerDetails(spent, ask),
      toolUsePromptTokenCount: spent.tools,
      toolUsePromptTokensDetails: detailsOf({ text: spent.tools }),
      thoughtsTokenCount: spent.thoughts,
      serviceTier,
    });
};

/** The Gemini API tells only pictures apart. */
const answerDetails = ({ answer, pictures }: GeminiTokens, ask: GeminiSimRequest): readonly unknown[] =>
  detailsOf(ask.provider.quirks.hasTimestamps ? { text: answer - pictures, image: pictures } : { image: pictures });

/** Fields that hold something. */
export const omitEmpty = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);

/** The answer of countTokens. */
export const encodeCount = (usage: SimUsage, ask: GeminiSimRequest): Json =>
  ask.provider.quirks.endpoint === "code-assist"
    ? { totalTokens: usage.input }
    : { totalTokens: usage.input, promptTokensDetails: detailsOf(usage.inputBy) };
