import type { MaskedText } from "./quotations.ts";
import { parseFiles, isPath, isPronoun, normalizePath } from "./paths.ts";
import type { Intent } from "./intent.ts";

/** A sentence pattern and the intents it expresses; `toIntents` returns undefined if the match turns out wrong. */
export type Phrase = {
  readonly pattern: RegExp;
  readonly toIntents: (match: PhraseMatch) => readonly Intent[] | Intent | undefined;
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
export const definePhrase = (source: string, intents: Phrase["toIntents"]): Phrase => ({
  pattern: new RegExp(`^(?:${source})$`, "i"),
  toIntents: intents,
});

/** Returns the intents of the first phrase that matches a clause. */
export const matchPhrases = (
  phrases: readonly Phrase[],
  clause: string,
  quotations: MaskedText,
  mentioned: LastMentioned,
): readonly Intent[] | undefined => {
  for (const { pattern, toIntents } of phrases) {
    const found = pattern.exec(clause);
    const intents =
      found === null ? undefined : toIntents(createMatch(found.groups ?? {}, clause, quotations, mentioned));
    if (intents !== undefined) return [intents].flat();
  }
  return undefined;
};

const createMatch = (
  groups: Readonly<Record<string, string | undefined>>,
  clause: string,
  quotations: MaskedText,
  mentioned: LastMentioned,
): PhraseMatch => {
  const masked = (place: string): string => groups[place]?.trim() ?? "";
  const paths = (place: string): readonly string[] => {
    const named = masked(place);
    if (isPronoun(named) && mentioned.path !== undefined) return [mentioned.path];
    return parseFiles(named).map((path) => normalizePath(quotations.unquote(path)));
  };
  return {
    masked,
    text: (place) => quotations.unquote(masked(place)),
    clause: quotations.restore(clause),
    paths,
    path: (place) => {
      const bare = masked(place).replace(leadingArticles, "");
      if (!/\s/.test(bare) && isPath(bare)) return normalizePath(quotations.unquote(bare));
      const [only, ...more] = paths(place);
      return more.length === 0 ? only : undefined;
    },
    quotations,
    mentioned,
  };
};

const leadingArticles =
  /^(?:the |a |an |my |this |that |our |new |text |file |script |document |image |picture |photo |screenshot |called |named )+/i;
