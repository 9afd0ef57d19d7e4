/** One line of a diff: unchanged, removed or added. Lines keep their line endings. */
export type LineChange = { readonly sign: " " | "-" | "+"; readonly line: string };

/**
 * Diffs two lists of lines. Its work is limited: texts with hardly anything in common show more changed lines than
 * necessary.
 */
export const diffLines = (old: readonly string[], updated: readonly string[]): readonly LineChange[] => {
  const changes: LineChange[] = [];
  compareRanges({ lines: old, from: 0, to: old.length }, { lines: updated, from: 0, to: updated.length }, changes, {
    work: maxComparisons,
  });
  return changes;
};

/** A range of lines. */
type DiffRange = { readonly lines: readonly string[]; readonly from: number; readonly to: number };

/** Pairs of lines compared at most: about 50 ms. */
const maxComparisons = 5_000_000;

/** Pairs in one table of comparisons. */
const maxTablePairs = 500_000;

const compareRanges = (old: DiffRange, updated: DiffRange, changes: LineChange[], left: { work: number }): void => {
  const start = commonPrefix(old, updated);
  const end = commonSuffix({ ...old, from: old.from + start }, { ...updated, from: updated.from + start });
  const inner = [trimRange(old, start, end), trimRange(updated, start, end)] as const;
  pushLines(changes, " ", { ...old, to: old.from + start });
  compareInner(...inner, changes, left);
  pushLines(changes, " ", { ...old, from: old.to - end });
};

const trimRange = ({ lines, from, to }: DiffRange, start: number, end: number): DiffRange => ({
  lines,
  from: from + start,
  to: to - end,
});

const commonPrefix = (old: DiffRange, updated: DiffRange): number => {
  const most = Math.min(old.to - old.from, updated.to - updated.from);
  let count = 0;
  while (count < most && old.lines[old.from + count] === updated.lines[updated.from + count]) count += 1;
  return count;
};

const commonSuffix = (old: DiffRange, updated: DiffRange): number => {
  const most = Math.min(old.to - old.from, updated.to - updated.from);
  let count = 0;
  while (count < most && old.lines[old.to - 1 - count] === updated.lines[updated.to - 1 - count]) count += 1;
  return count;
};

const pushLines = (changes: LineChange[], sign: LineChange["sign"], { lines, from, to }: DiffRange): void => {
  for (let at = from; at < to; at++) changes.push({ sign, line: lines[at] ?? "" });
};

/** Compares the ranges between common start and end: around unique lines, or line by line, or not at all. */
const compareInner = (old: DiffRange, updated: DiffRange, changes: LineChange[], left: { work: number }): void => {
  const pairs = (old.to - old.from) * (updated.to - updated.from);
  if (pairs === 0 || left.work < 0) return replaceAll(old, updated, changes);
  if (pairs <= maxTablePairs) {
    left.work -= pairs;
    return longestCommonSubsequence(old, updated, changes);
  }
  const anchors = findAnchors(old, updated);
  if (anchors.length === 0) return replaceAll(old, updated, changes);
  let [oldAt, freshAt] = [old.from, updated.from];
  for (const [oldAnchor, freshAnchor] of anchors) {
    compareRanges(
      { ...old, from: oldAt, to: oldAnchor },
      { ...updated, from: freshAt, to: freshAnchor },
      changes,
      left,
    );
    changes.push({ sign: " ", line: old.lines[oldAnchor] ?? "" });
    [oldAt, freshAt] = [oldAnchor + 1, freshAnchor + 1];
  }
  compareRanges({ ...old, from: oldAt }, { ...updated, from: freshAt }, changes, left);
};

const replaceAll = (old: DiffRange, updated: DiffRange, changes: LineChange[]): void => {
  pushLines(changes, "-", old);
  pushLines(changes, "+", updated);
};

/** Finds the longest common subsequence with a table of all pairs. */
const longestCommonSubsequence = (old: DiffRange, updated: DiffRange, changes: LineChange[]): void => {
  const [rows, columns] = [old.to - old.from, updated.to - updated.from];
  const width = columns + 1;
  const longest = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  const isSame = (row: number, column: number): boolean =>
    old.lines[old.from + row] === updated.lines[updated.from + column];
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      longest[row * width + column] = isSame(row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const added: LineChange[] = [];
  const flush = (): void => void changes.push(...added.splice(0));
  for (let [row, column] = [0, 0]; row < rows || column < columns;) {
    if (row < rows && column < columns && isSame(row, column)) {
      flush();
      changes.push({ sign: " ", line: old.lines[old.from + row] ?? "" });
      row += 1;
      column += 1;
    } else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1))) {
      changes.push({ sign: "-", line: old.lines[old.from + row] ?? "" });
      row += 1;
    } else {
      // Added lines come after the ones they replace.
      added.push({ sign: "+", line: updated.lines[updated.from + column] ?? "" });
      column += 1;
    }
  }
  flush();
};

type AnchorPair = readonly [old: number, fresh: number];

/** Lines that occur exactly once in both ranges: the longest selection that is in the same order in both. */
const findAnchors = (old: DiffRange, updated: DiffRange): readonly AnchorPair[] => {
  const places = findUniqueLines(updated);
  const pairs = [...findUniqueLines(old)].flatMap(([line, at]): readonly AnchorPair[] => {
    const other = places.get(line);
    return other === undefined ? [] : [[at, other]];
  });
  return longestIncreasing(pairs);
};

const findUniqueLines = ({ lines, from, to }: DiffRange): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (let at = from; at < to; at++) found.set(lines[at] ?? "", found.has(lines[at] ?? "") ? -1 : at);
  for (const [line, at] of found) if (at === -1) found.delete(line);
  return found;
};

/** The longest increasing subsequence of the second numbers. */
const longestIncreasing = (pairs: readonly AnchorPair[]): readonly AnchorPair[] => {
  /** For each length, the chain with the lowest end. */
  const ends: AnchorChain[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    ends[low] = { pair, before: ends[low - 1] };
  }
  const chosen: AnchorPair[] = [];
  for (let chain = ends.at(-1); chain !== undefined; chain = chain.before) chosen.push(chain.pair);
  return chosen.toReversed();
};

type AnchorChain = { readonly pair: AnchorPair; readonly before: AnchorChain | undefined };
