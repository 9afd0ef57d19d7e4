import type { MaskedText } from "./quotations.ts";
import { parseFiles, isPath, isPronoun, normalizePath } from "./paths.ts";
import type { Intent } from "./intent.ts";

/** A sentence pattern and the intents it expresses; `toIntents` returns undefined if the match turns out wrong. */
export type Phrase = {
  readonly pattern: RegExp;
  readonly toIntents: (said: PhraseMatch) => readonly Intent[] | Intent | undefined;
};

/** The groups of a matched phrase. */
export type PhraseMatch = {
  /** The text of a group with quotations still masked; "" if the group is absent. */
  readonly masked: (place: string) => string;
  /** The text of a group with quotations unquoted. */
  readonly text: (place: string) => string;
  /** The whole clause as written. */
  readonly clause: string;
  /** The single path a group names; "it" counts. */
  readonly path: (place: string) => string | undefined;
  /** All paths a group names; "it" counts. */
  readonly paths: (place: string) => readonly string[];
  readonly quotations: MaskedText;
  readonly mentioned: LastMentioned;
};

/** The path that "it" refers to. */
export type LastMentioned = { readonly path?: string };

/** Defines a phrase by a pattern that must match the whole clause. */
export const definePhrase = (source: string, wishes: Phrase["toIntents"]): Phrase => ({
  pattern: new RegExp(`^(?:${source})$`, "i"),
  toIntents: wishes,
});

/** Returns the intents of the first phrase that matches a clause. */
export const matchPhrases = (
  phrases: readonly Phrase[],
  clause: string,
  held: MaskedText,
  before: LastMentioned,
): readonly Intent[] | undefined => {
  for (const { pattern, toIntents } of phrases) {
    const found = pattern.exec(clause);
    const made = found === null ? undefined : toIntents(createMatch(found.groups ?? {}, clause, held, before));
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
