import type { Finding } from "./finding.ts";
import type { Line, Stretch } from "./line.ts";
import type { Scan } from "./scan.ts";

/** What makes a file whole again: nothing, cutting it off and ending its last line, or writing it anew. */
type Cure =
  | { readonly type: "none" }
  | { readonly type: "cut"; readonly at: number; readonly away: readonly Stretch[] }
  | { readonly type: "rewrite"; readonly away: readonly Stretch[] };

/** The records of a file in their order, each once, and what was wrong. */
export type Mended = {
  readonly lines: readonly Line[];
  readonly findings: readonly Finding[];
  readonly cure: Cure;
};

/** Puts in order what was found. No line whose checksum is right is left out, unless it is there already. */
export const mend = ({ lines: found, junk, glued, size, isEnded }: Scan): Mended => {
  const lines = isConsecutive(found) ? found : ordered(found);
  const last = found.at(-1)?.end ?? 0;
  const inside = junk.filter(({ start }) => start < last);
  const after = junk.filter(({ start }) => start >= last);
  const misplaced = lines === found ? 0 : misplacedIn(found);
  const repeated = found.length - lines.length;
  const isHeadless = !lines[0]?.text.startsWith('{"kind":"head"');
  const inner: readonly Finding[] = [
    ...(isHeadless ? ([{ kind: "no-head" }] as const) : []),
    ...inside.map(({ start, end }) => ({ kind: "damaged", bytes: end - start, after: before(found, start) }) as const),
    ...gapsIn(lines),
    ...(repeated > 0 ? ([{ kind: "repeated", records: repeated }] as const) : []),
    ...(misplaced > 0 ? ([{ kind: "out-of-order", records: misplaced }] as const) : []),
    ...(glued > 0 ? ([{ kind: "glued", records: glued }] as const) : []),
  ];
  const outer: readonly Finding[] = [
    ...(after.length > 0 ? ([{ kind: "torn-end", bytes: size - (after[0]?.start ?? size) }] as const) : []),
    ...(after.length === 0 && !isEnded && size > 0 ? ([{ kind: "unended" }] as const) : []),
  ];
  return { lines, findings: [...inner, ...outer], cure: cureFor({ inner, outer, at: last, junk, after }) };
};

type Case = {
  readonly inner: readonly Finding[];
  readonly outer: readonly Finding[];
  readonly at: number;
  readonly junk: readonly Stretch[];
  readonly after: readonly Stretch[];
};

const cureFor = ({ inner, outer, at, junk, after }: Case): Cure => {
  if (inner.length > 0) return { type: "rewrite", away: junk };
  return outer.length > 0 ? { type: "cut", at, away: after } : { type: "none" };
};

const isConsecutive = (lines: readonly Line[]): boolean =>
  lines.every(({ sequence }, index) => index === 0 || sequence === (lines[index - 1]?.sequence ?? 0) + 1);

/** In order of their numbers, each once. Two that differ and share a number stay as they stood. */
const ordered = (lines: readonly Line[]): readonly Line[] => {
  const seen = new Set<string>();
  const once = lines.filter(({ sequence, sum, text }) => {
    const mark = `${sequence}.${sum}.${text.length}`;
    return !seen.has(mark) && seen.add(mark) !== undefined;
  });
  return once.toSorted((one, other) => one.sequence - other.sequence);
};

/** How many records came after one with a higher number, or share a number with another, repetitions aside. */
const misplacedIn = (lines: readonly Line[]): number => {
  const sums = new Map<number, string>();
  let highest = 0;
  let count = 0;
  for (const { sequence, sum } of lines) {
    if (sequence <= highest && sums.get(sequence) !== sum) count += 1;
    if (!sums.has(sequence)) sums.set(sequence, sum);
    highest = Math.max(highest, sequence);
  }
  return count;
};

const gapsIn = (lines: readonly Line[]): readonly Finding[] =>
  lines.flatMap(({ sequence }, index): readonly Finding[] => {
    const previous = lines[index - 1]?.sequence ?? 0;
    const records = sequence - previous - 1;
    return records > 0 ? [{ kind: "lost", records, after: previous }] : [];
  });

/** The number of the last record before a place. */
const before = (lines: readonly Line[], place: number): number =>
  lines.findLast(({ end }) => end <= place)?.sequence ?? 0;
