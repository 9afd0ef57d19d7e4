/** A candidate that contains the letters of a query in order, with its score and their positions. */
export type FuzzyMatch<Item> = { readonly item: Item; readonly score: number; readonly positions: readonly number[] };

/**
 * Ranks the candidates that match a query, best first; ties keep their order. An empty query matches all. `lengthCost` is
 * what each character of a candidate costs.
 */
export const rankMatches = <Item>(
  query: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
  { lengthCost }: { readonly lengthCost: number } = { lengthCost: 0.01 },
): readonly FuzzyMatch<Item>[] => {
  if (query === "") return items.map((item) => ({ item, score: 0, positions: [] }));
  const matches: FuzzyMatch<Item>[] = [];
  for (const item of items) {
    const match = fuzzyMatch(query, textOf(item), lengthCost);
    if (match !== undefined) matches.push({ item, ...match });
  }
  return matches.toSorted((one, other) => other.score - one.score);
};

/** Moves matches that cannot be used behind the usable ones that contain the query as it is. */
export const putUsableFirst = <Item>(
  query: string,
  matches: readonly FuzzyMatch<Item>[],
  { textOf, isUsable }: { readonly textOf: (item: Item) => string; readonly isUsable: (item: Item) => boolean },
): readonly FuzzyMatch<Item>[] => {
  if (matches.every(({ item }) => isUsable(item))) return matches;
  const needle = query.toLowerCase();
  const isFirst = ({ item }: FuzzyMatch<Item>): boolean =>
    isUsable(item) && textOf(item).toLowerCase().includes(needle);
  return [...matches.filter(isFirst), ...matches.filter((each) => !isFirst(each))];
};

/** Scores a match: runs, word starts and the last path segment count; gaps and length cost. */
const fuzzyMatch = (query: string, text: string, lengthCost: number): Omit<FuzzyMatch<never>, "item"> | undefined => {
  const needle = query.toLowerCase();
  const lower = text.toLowerCase();
  // Letters whose length changes with case would shift the positions.
  const shown = lower.length === text.length ? lower : text;
  const whole = shown.lastIndexOf(needle);
  if (whole !== -1) {
    const positions = Array.from({ length: needle.length }, (_, at) => whole + at);
    return { positions: positions, score: scoreOf(text, positions) - text.length * lengthCost + 4 * needle.length };
  }
  const positions = matchBackwards(needle, shown);
  return positions === undefined
    ? undefined
    : { positions: positions, score: scoreOf(text, positions) - text.length * lengthCost };
};

/** Matches from the end, since the end of a path says more than its folders. */
const matchBackwards = (needle: string, text: string): readonly number[] | undefined => {
  const positions: number[] = [];
  let at = text.length;
  for (let index = needle.length - 1; index >= 0; index--) {
    at = at === 0 ? -1 : text.lastIndexOf(needle.charAt(index), at - 1);
    if (at === -1) return undefined;
    positions.push(at);
  }
  return positions.toReversed();
};

const scoreOf = (text: string, positions: readonly number[]): number => {
  let score = 0;
  positions.forEach((at, index) => {
    const isStart = at === 0 || /[\s/_.:-]/.test(text.charAt(at - 1)) || /[a-z][A-Z]/.test(text.slice(at - 1, at + 1));
    if (isStart) score += 6;
    const before = positions[index - 1];
    if (before !== undefined) score += at === before + 1 ? 4 : -Math.min(3, (at - before) / 8);
  });
  if ((positions[0] ?? 0) > text.lastIndexOf("/", text.length - 2)) score += 5;
  return score;
};
