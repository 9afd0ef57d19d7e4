/** What became of a line: it stays, goes, or is new. Lines come with their ends. */
export type LineChange = { readonly sign: " " | "-" | "+"; readonly line: string };

/** How one list of lines becomes another. Takes little time also where hardly anything stays: then more is shown as changed than is. */
export const diffLines = (old: readonly string[], fresh: readonly string[]): readonly LineChange[] => {
  const changes: LineChange[] = [];
  compareRanges({ lines: old, from: 0, to: old.length }, { lines: fresh, from: 0, to: fresh.length }, changes, {
    work: maxComparisons,
  });
  return changes;
};

/** A stretch of lines. */
type DiffRange = { readonly lines: readonly string[]; readonly from: number; readonly to: number };

/** Pairs of lines that are compared at most: about a twentieth of a second. */
const maxComparisons = 5_000_000;

/** Pairs in one table of comparisons. */
const maxTablePairs = 500_000;

const compareRanges = (old: DiffRange, fresh: DiffRange, changes: LineChange[], left: { work: number }): void => {
  const start = commonPrefix(old, fresh);
  const end = commonSuffix({ ...old, from: old.from + start }, { ...fresh, from: fresh.from + start });
  const inner = [trimRange(old, start, end), trimRange(fresh, start, end)] as const;
  pushLines(changes, " ", { ...old, to: old.from + start });
  compareInner(...inner, changes, left);
  pushLines(changes, " ", { ...old, from: old.to - end });
};

const trimRange = ({ lines, from, to }: DiffRange, start: number, end: number): DiffRange => ({
  lines,
  from: from + start,
  to: to - end,
});

const commonPrefix = (old: DiffRange, fresh: DiffRange): number => {
  const most = Math.min(old.to - old.from, fresh.to - fresh.from);
  let count = 0;
  while (count < most && old.lines[old.from + count] === fresh.lines[fresh.from + count]) count += 1;
  return count;
};

const commonSuffix = (old: DiffRange, fresh: DiffRange): number => {
  const most = Math.min(old.to - old.from, fresh.to - fresh.from);
  let count = 0;
  while (count < most && old.lines[old.to - 1 - count] === fresh.lines[fresh.to - 1 - count]) count += 1;
  return count;
};

const pushLines = (changes: LineChange[], sign: LineChange["sign"], { lines, from, to }: DiffRange): void => {
  for (let at = from; at < to; at++) changes.push({ sign, line: lines[at] ?? "" });
};

/** Compares what differs at both ends: around lines that stand once in either, or line by line, or not at all. */
const compareInner = (old: DiffRange, fresh: DiffRange, changes: LineChange[], left: { work: number }): void => {
  const pairs = (old.to - old.from) * (fresh.to - fresh.from);
  if (pairs === 0 || left.work < 0) return replaceAll(old, fresh, changes);
  if (pairs <= maxTablePairs) {
    left.work -= pairs;
    return longestCommonSubsequence(old, fresh, changes);
  }
  const anchors = findAnchors(old, fresh);
  if (anchors.length === 0) return replaceAll(old, fresh, changes);
  let [oldAt, freshAt] = [old.from, fresh.from];
  for (const [oldAnchor, freshAnchor] of anchors) {
    compareRanges({ ...old, from: oldAt, to: oldAnchor }, { ...fresh, from: freshAt, to: freshAnchor }, changes, left);
    changes.push({ sign: " ", line: old.lines[oldAnchor] ?? "" });
    [oldAt, freshAt] = [oldAnchor + 1, freshAnchor + 1];
  }
  compareRanges({ ...old, from: oldAt }, { ...fresh, from: freshAt }, changes, left);
};

const replaceAll = (old: DiffRange, fresh: DiffRange, changes: LineChange[]): void => {
  pushLines(changes, "-", old);
  pushLines(changes, "+", fresh);
};

/** The longest run of lines that both have, found with a table of all pairs. */
const longestCommonSubsequence = (old: DiffRange, fresh: DiffRange, changes: LineChange[]): void => {
  const [rows, columns] = [old.to - old.from, fresh.to - fresh.from];
  const width = columns + 1;
  const longest = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  const isSame = (row: number, column: number): boolean =>
    old.lines[old.from + row] === fresh.lines[fresh.from + column];
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
      // New lines come after the ones they replace.
      added.push({ sign: "+", line: fresh.lines[fresh.from + column] ?? "" });
      column += 1;
    }
  }
  flush();
};

type AnchorPair = readonly [old: number, fresh: number];

/** Lines that stand exactly once in either stretch, as many as stand in the same order in both. */
const findAnchors = (old: DiffRange, fresh: DiffRange): readonly AnchorPair[] => {
  const places = findUniqueLines(fresh);
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

/** The longest selection of pairs whose second numbers rise as the first do. */
const longestIncreasing = (pairs: readonly AnchorPair[]): readonly AnchorPair[] => {
  /** For each length, the chain that ends lowest. */
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
