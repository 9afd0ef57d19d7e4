import type { Json, SimUsage } from "./family.ts";
import { detailsOf, firstTokens } from "./gemini-prompt.ts";
import type { GeminiAsk } from "./gemini-request.ts";

/** What an answer, or the beginning of one, has cost. */
export type Spent = {
  readonly thoughts: number;
  /** Words, calls and pictures of the answer. */
  readonly answer: number;
  /** How much of the answer is pictures. */
  readonly pictures: number;
  /** What a tool of the server's own has put before the model. */
  readonly tools: number;
};

/** Writes `usageMetadata`: the prompt with what was cached, the answer without its thoughts. What is nothing is left out. */
export const usageOf = (usage: SimUsage, ask: GeminiAsk): ((spent: Spent) => Json) => {
  const { serviceTier, trafficType } = ask.provider.quirks.tier;
  const cached = usage.cachedRead === 0 ? [] : detailsOf(firstTokens(ask, usage.cachedRead));
  return (spent) =>
    present({
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
const answerDetails = ({ answer, pictures }: Spent, ask: GeminiAsk): readonly unknown[] =>
  detailsOf(ask.provider.quirks.stamps ? { text: answer - pictures, image: pictures } : { image: pictures });

/** Fields that hold something. */
export const present = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value)));

const isNothing = (value: unknown): boolean =>
  value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);

/** The answer of countTokens. */
export const countGemini = (usage: SimUsage, ask: GeminiAsk): Json =>
  ask.provider.quirks.door === "code-assist"
    ? { totalTokens: usage.input }
    : { totalTokens: usage.input, promptTokensDetails: detailsOf(usage.inputBy) };
