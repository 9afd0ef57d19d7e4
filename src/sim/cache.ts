import { createHash } from "node:crypto";
import type { CacheRule, Unit } from "./family.ts";
import type { Tokens } from "./model.ts";

/** Tokens of a prompt that were found in the cache, and those that were put there. */
type CacheUse = { readonly read: number; readonly written: number };

/** What a provider remembers of prompts, model by model. */
export type PromptCache = {
  /** Accounts for one request at a time in milliseconds, and remembers its prompt. */
  readonly use: (model: string, units: readonly Unit[], rule: CacheRule, now: number) => CacheUse;
};

/** An empty cache. A prefix is forgotten five minutes after it was last used, unless its mark asks for longer. */
export const createPromptCache = (): PromptCache => {
  const stored: Stored = new Map();
  return {
    use: (model, units, rule, now) => {
      forget(stored, now);
      const prefixes = prefixesOf(model, units);
      switch (rule.mode) {
        case "none":
          return { read: 0, written: 0 };
        case "marked":
          return useMarks(stored, prefixes, rule, now);
        case "automatic":
          return useSteps(stored, prefixes, rule, now);
      }
    },
  };
};

/** Until when a prefix is known, by its digest: those used longest ago come first. */
type Stored = Map<string, { readonly until: number; readonly keep: number }>;

type Prefix = { readonly digest: string; readonly tokens: number; readonly marked: boolean; readonly keep: number };

const forget = (stored: Stored, now: number): void => {
  for (const [digest, { until }] of stored) if (until <= now) stored.delete(digest);
};

/** Every beginning of the prompt that ends with a unit. */
const prefixesOf = (model: string, units: readonly Unit[]): readonly Prefix[] => {
  let digest = model;
  let tokens = 0;
  return units.map((unit) => {
    digest = createHash("sha256").update(digest).update("\n").update(unit.content).digest("base64url");
    tokens += sumTokens(unit.tokens);
    return { digest, tokens, marked: unit.marked, keep: unit.keep ?? 300 };
  });
};

/** All tokens, whatever they stand for. */
export const sumTokens = (tokens: Tokens): number =>
  Object.values(tokens).reduce((sum: number, count) => sum + (count ?? 0), 0);

/** Each mark finds what was stored at a mark at most 20 units before it. */
const useMarks = (stored: Stored, prefixes: readonly Prefix[], { floor }: CacheRule, now: number): CacheUse => {
  const marks = prefixes.flatMap(({ marked }, index) => (marked ? [index] : []));
  const found = marks.flatMap((mark) => nearest(stored, prefixes, mark) ?? []);
  const read = Math.max(0, ...found.map(({ tokens }) => tokens));
  const made = marks.flatMap((mark) => prefixes[mark] ?? []).filter(({ tokens }) => tokens >= floor);
  for (const prefix of [...found, ...made]) store(stored, prefix, now);
  return { read, written: Math.max(0, (made.at(-1)?.tokens ?? 0) - read) };
};

const lookBack = 20;

const nearest = (stored: Stored, prefixes: readonly Prefix[], mark: number): Prefix | undefined =>
  prefixes.slice(Math.max(0, mark - lookBack), mark + 1).findLast(({ digest }) => stored.has(digest));

const store = (stored: Stored, { digest, keep }: Prefix, now: number): void => {
  const kept = Math.max(keep, stored.get(digest)?.keep ?? 0);
  stored.delete(digest);
  stored.set(digest, { until: now + kept * 1000, keep: kept });
};

/** The longest beginning seen before counts, in whole steps and from the floor on. */
const useSteps = (stored: Stored, prefixes: readonly Prefix[], rule: CacheRule, now: number): CacheUse => {
  const whole = (tokens: number): number => (tokens < rule.floor ? 0 : tokens - (tokens % Math.max(1, rule.step)));
  const read = whole(prefixes.findLast(({ digest }) => stored.has(digest))?.tokens ?? 0);
  for (const prefix of prefixes) store(stored, prefix, now);
  return { read, written: Math.max(0, whole(prefixes.at(-1)?.tokens ?? 0) - read) };
};
