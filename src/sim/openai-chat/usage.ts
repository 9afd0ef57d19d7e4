import type { Json, SimUsage } from "../family.ts";

/** The three counts that every vendor gives. */
export const plainUsage = ({ input, output }: SimUsage): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

/** Counts with what was cached and what was thought, as most vendors give them. */
export const detailedUsage = (usage: SimUsage): Json => ({
  ...plainUsage(usage),
  prompt_tokens_details: cachedDetail(usage),
  completion_tokens_details: thoughtDetail(usage),
});

/** How much of the prompt was found in the cache. */
export const cachedDetail = ({ cachedRead }: SimUsage): Json => ({ cached_tokens: cachedRead });

/** How much of the answer was thought. */
export const thoughtDetail = ({ reasoning }: SimUsage): Json => ({ reasoning_tokens: reasoning });
