import { createHash } from "node:crypto";
import type { CacheRule, PromptUnit } from "./family.ts";
import type { TokensByModality } from "./model/types.ts";

/** Tokens of a prompt read from the cache, and tokens written to it. */
type CacheCounts = { readonly read: number; readonly written: number };

/** The prompt cache of a provider, by model. */
export type PromptCache = {
  /** Counts the cached tokens of one request at time `now` (milliseconds), and stores its prefixes. */
  readonly readAndStore: (model: string, units: readonly PromptUnit[], rule: CacheRule, now: number) => CacheCounts;
};

/**
 * Creates an empty cache. A prefix expires five minutes after its last use, unless its cache point sets a longer
 * lifetime.
 */
export const createPromptCache = (): PromptCache => {
  const stored: StoredPrefixes = new Map();
  return {
    readAndStore: (model, units, rule, now) => {
      evictExpired(stored, now);
      const prefixes = prefixesOf(model, units);
      switch (rule.mode) {
        case "none":
          return { read: 0, written: 0 };
        case "marked":
          return useCachePoints(stored, prefixes, rule, now);
        case "automatic":
          return useAutomaticPrefixes(stored, prefixes, rule, now);
      }
    },
  };
};

/** Expiry times by prefix digest, least recently used first. */
type StoredPrefixes = Map<string, { readonly until: number; readonly keep: number }>;

type PromptPrefix = {
  readonly digest: string;
  readonly tokens: number;
  readonly marked: boolean;
  readonly keep: number;
};

const evictExpired = (stored: StoredPrefixes, now: number): void => {
  for (const [digest, { until }] of stored) if (until <= now) stored.delete(digest);
};

/** Every prefix of the prompt that ends with a unit. */
const prefixesOf = (model: string, units: readonly PromptUnit[]): readonly PromptPrefix[] => {
  let digest = model;
  let tokens = 0;
  return units.map((unit) => {
    digest = createHash("sha256").update(digest).update("\n").update(unit.content).digest("base64url");
    tokens += sumTokens(unit.tokens);
    return { digest, tokens, marked: unit.isCachePoint, keep: unit.ttlSeconds ?? 300 };
  });
};

/** Sums the tokens of all modalities. */
export const sumTokens = (tokens: TokensByModality): number =>
  Object.values(tokens).reduce((sum: number, count) => sum + (count ?? 0), 0);

/** Explicit caching: each cache point finds a prefix stored at a cache point at most 20 units before it. */
const useCachePoints = (
  stored: StoredPrefixes,
  prefixes: readonly PromptPrefix[],
  { minTokens }: CacheRule,
  now: number,
): CacheCounts => {
  const marks = prefixes.flatMap(({ marked }, index) => (marked ? [index] : []));
  const found = marks.flatMap((mark) => findNearestStored(stored, prefixes, mark) ?? []);
  const read = Math.max(0, ...found.map(({ tokens }) => tokens));
  const made = marks.flatMap((mark) => prefixes[mark] ?? []).filter(({ tokens }) => tokens >= minTokens);
  for (const prefix of [...found, ...made]) storePrefix(stored, prefix, now);
  return { read, written: Math.max(0, (made.at(-1)?.tokens ?? 0) - read) };
};

const lookBackUnits = 20;

const findNearestStored = (
  stored: StoredPrefixes,
  prefixes: readonly PromptPrefix[],
  mark: number,
): PromptPrefix | undefined =>
  prefixes.slice(Math.max(0, mark - lookBackUnits), mark + 1).findLast(({ digest }) => stored.has(digest));

const storePrefix = (stored: StoredPrefixes, { digest, keep }: PromptPrefix, now: number): void => {
  const kept = Math.max(keep, stored.get(digest)?.keep ?? 0);
  stored.delete(digest);
  stored.set(digest, { until: now + kept * 1000, keep: kept });
};

/** Automatic caching: the longest known prefix counts, in whole steps and from the minimum size on. */
const useAutomaticPrefixes = (
  stored: StoredPrefixes,
  prefixes: readonly PromptPrefix[],
  rule: CacheRule,
  now: number,
): CacheCounts => {
  const whole = (tokens: number): number =>
    tokens < rule.minTokens ? 0 : tokens - (tokens % Math.max(1, rule.stepTokens));
  const read = whole(prefixes.findLast(({ digest }) => stored.has(digest))?.tokens ?? 0);
  for (const prefix of prefixes) storePrefix(stored, prefix, now);
  return { read, written: Math.max(0, whole(prefixes.at(-1)?.tokens ?? 0) - read) };
};
