import type { Held } from "./held.ts";
import { filesIn, isPath, isPronoun, pathOf } from "./places.ts";
import type { Wish } from "./wish.ts";

/** A way to say something, and what is then wanted; undefined where it only looked like it. */
export type Phrase = {
  readonly pattern: RegExp;
  readonly wishes: (said: Said) => readonly Wish[] | Wish | undefined;
};

/** What stands in the places of a phrase. */
export type Said = {
  /** The words of a place as they stand, quotations still held; "" where there are none. */
  readonly words: (place: string) => string;
  /** The words of a place, quotations opened. */
  readonly text: (place: string) => string;
  /** The whole clause as it was written. */
  readonly whole: string;
  /** The one path a place names, also as "it". */
  readonly path: (place: string) => string | undefined;
  /** All paths a place names, also as "it". */
  readonly paths: (place: string) => readonly string[];
  readonly held: Held;
  readonly before: Before;
};

/** What was spoken of before. */
export type Before = { readonly path?: string };

/** A phrase by the source of its pattern, which the whole clause has to fit. */
export const when = (source: string, wishes: Phrase["wishes"]): Phrase => ({
  pattern: new RegExp(`^(?:${source})$`, "i"),
  wishes,
});

/** What the first phrase that fits makes of a clause. */
export const firstFit = (
  phrases: readonly Phrase[],
  clause: string,
  held: Held,
  before: Before,
): readonly Wish[] | undefined => {
  for (const { pattern, wishes } of phrases) {
    const found = pattern.exec(clause);
    const made = found === null ? undefined : wishes(saidIn(found.groups ?? {}, clause, held, before));
    if (made !== undefined) return [made].flat();
  }
  return undefined;
};

const saidIn = (
  groups: Readonly<Record<string, string | undefined>>,
  clause: string,
  held: Held,
  before: Before,
): Said => {
  const words = (place: string): string => groups[place]?.trim() ?? "";
  const paths = (place: string): readonly string[] => {
    const named = words(place);
    if (isPronoun(named) && before.path !== undefined) return [before.path];
    return filesIn(named).map((path) => pathOf(held.open(path)));
  };
  return {
    words,
    text: (place) => held.open(words(place)),
    whole: held.raw(clause),
    paths,
    path: (place) => {
      const bare = words(place).replace(bareName, "");
      if (!/\s/.test(bare) && isPath(bare)) return pathOf(held.open(bare));
      const [only, ...more] = paths(place);
      return more.length === 0 ? only : undefined;
    },
    held,
    before,
  };
};

const bareName =
  /^(?:the |a |an |my |this |that |our |new |text |file |script |document |image |picture |photo |screenshot |called |named )+/i;
