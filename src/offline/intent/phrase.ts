import type { MaskedText } from "./quotations.ts";
import { parseFiles, isPath, isPronoun, normalizePath } from "./paths.ts";
import type { Intent } from "./intent.ts";

/** A way to say something, and what is then wanted; undefined where it only looked like it. */
export type Phrase = {
  readonly pattern: RegExp;
  readonly toIntents: (said: PhraseMatch) => readonly Intent[] | Intent | undefined;
};

/** What stands in the places of a phrase. */
export type PhraseMatch = {
  /** The words of a place as they stand, quotations still held; "" where there are none. */
  readonly masked: (place: string) => string;
  /** The words of a place, quotations opened. */
  readonly text: (place: string) => string;
  /** The whole clause as it was written. */
  readonly clause: string;
  /** The one path a place names, also as "it". */
  readonly path: (place: string) => string | undefined;
  /** All paths a place names, also as "it". */
  readonly paths: (place: string) => readonly string[];
  readonly quotations: MaskedText;
  readonly mentioned: LastMentioned;
};

/** What was spoken of before. */
export type LastMentioned = { readonly path?: string };

/** A phrase by the source of its pattern, which the whole clause has to fit. */
export const definePhrase = (source: string, wishes: Phrase["toIntents"]): Phrase => ({
  pattern: new RegExp(`^(?:${source})$`, "i"),
  toIntents: wishes,
});

/** What the first phrase that fits makes of a clause. */
export const matchPhrases = (
  phrases: readonly Phrase[],
  clause: string,
  held: MaskedText,
  before: LastMentioned,
): readonly Intent[] | undefined => {
  for (const { pattern, toIntents: wishes } of phrases) {
    const found = pattern.exec(clause);
    const made = found === null ? undefined : wishes(createMatch(found.groups ?? {}, clause, held, before));
    if (made !== undefined) return [made].flat();
  }
  return undefined;
};

const createMatch = (
  groups: Readonly<Record<string, string | undefined>>,
  clause: string,
  held: MaskedText,
  before: LastMentioned,
): PhraseMatch => {
  const words = (place: string): string => groups[place]?.trim() ?? "";
  const paths = (place: string): readonly string[] => {
    const named = words(place);
    if (isPronoun(named) && before.path !== undefined) return [before.path];
    return parseFiles(named).map((path) => normalizePath(held.unquote(path)));
  };
  return {
    masked: words,
    text: (place) => held.unquote(words(place)),
    clause: held.restore(clause),
    paths,
    path: (place) => {
      const bare = words(place).replace(leadingArticles, "");
      if (!/\s/.test(bare) && isPath(bare)) return normalizePath(held.unquote(bare));
      const [only, ...more] = paths(place);
      return more.length === 0 ? only : undefined;
    },
    quotations: held,
    mentioned: before,
  };
};

const leadingArticles =
  /^(?:the |a |an |my |this |that |our |new |text |file |script |document |image |picture |photo |screenshot |called |named )+/i;
