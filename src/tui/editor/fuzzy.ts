/** A candidate that contains the letters of a query in order, with its score and their positions. */
export type FuzzyMatch<Item> = { readonly item: Item; readonly score: number; readonly positions: readonly number[] };

/** Ranks the candidates that match a query, best first; ties keep their order. An empty query matches all. */
export const rankMatches = <Item>(
  query: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
): readonly FuzzyMatch<Item>[] => {
  if (query === "") return items.map((item) => ({ item, score: 0, positions: [] }));
  const found: FuzzyMatch<Item>[] = [];
  for (const item of items) {
    const match = fuzzyMatch(query, textOf(item));
    if (match !== undefined) found.push({ item, ...match });
  }
  return found.toSorted((one, other) => other.score - one.score);
};

/** Scores a match: runs, word starts and the last path segment count; gaps and length cost. */
const fuzzyMatch = (query: string, text: string): Omit<FuzzyMatch<never>, "item"> | undefined => {
  const wanted = query.toLowerCase();
  const lower = text.toLowerCase();
  // Letters whose length changes with case would shift the positions.
  const shown = lower.length === text.length ? lower : text;
  const whole = shown.lastIndexOf(wanted);
  if (whole !== -1) {
    const places = Array.from({ length: wanted.length }, (_, at) => whole + at);
    return { positions: places, score: scoreOf(text, places) + 4 * wanted.length };
  }
  const places = matchBackwards(wanted, shown);
  return places === undefined ? undefined : { positions: places, score: scoreOf(text, places) };
};

/** Matches from the end, since the end of a path says more than its folders. */
const matchBackwards = (wanted: string, text: string): readonly number[] | undefined => {
  const places: number[] = [];
  let at = text.length;
  for (let letter = wanted.length - 1; letter >= 0; letter--) {
    at = at === 0 ? -1 : text.lastIndexOf(wanted.charAt(letter), at - 1);
    if (at === -1) return undefined;
    places.push(at);
  }
  return places.toReversed();
};

const scoreOf = (text: string, places: readonly number[]): number => {
  let score = -text.length / 100;
  places.forEach((at, index) => {
    const isStart = at === 0 || /[\s/_.:-]/.test(text.charAt(at - 1)) || /[a-z][A-Z]/.test(text.slice(at - 1, at + 1));
    if (isStart) score += 6;
    const before = places[index - 1];
    if (before !== undefined) score += at === before + 1 ? 4 : -Math.min(3, (at - before) / 8);
  });
  if ((places[0] ?? 0) > text.lastIndexOf("/", text.length - 2)) score += 5;
  return score;
};
