import type { Json, SimUsage } from "../family.ts";

/** The three counts of every vendor. */
export const plainUsage = ({ input, output }: SimUsage): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

/** Usage with cached and reasoning tokens, as most vendors report it. */
export const detailedUsage = (usage: SimUsage): Json => ({
  ...plainUsage(usage),
  prompt_tokens_details: cachedDetail(usage),
  completion_tokens_details: thoughtDetail(usage),
});

/** The cached tokens of the prompt. */
export const cachedDetail = ({ cachedRead }: SimUsage): Json => ({ cached_tokens: cachedRead });

/** The reasoning tokens of the response. */
export const thoughtDetail = ({ reasoning }: SimUsage): Json => ({ reasoning_tokens: reasoning });
