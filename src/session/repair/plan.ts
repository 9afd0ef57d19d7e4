import type { SessionDamage } from "./damage.ts";
import type { LogLine, ByteRange } from "../log/line.ts";
import type { LogScan } from "../log/scan.ts";

/** What makes a file whole again: nothing, cutting it off and ending its last line, or writing it anew. */
type RepairAction =
  | { readonly type: "none" }
  | { readonly type: "cut"; readonly at: number; readonly cutRanges: readonly ByteRange[] }
  | { readonly type: "rewrite"; readonly cutRanges: readonly ByteRange[] };

/** The records of a file in their order, each once, and what was wrong. */
export type RepairPlan = {
  readonly lines: readonly LogLine[];
  readonly damage: readonly SessionDamage[];
  readonly action: RepairAction;
};

/** Puts in order what was found. No line whose checksum is right is left out, unless it is there already. */
export const planRepair = ({
  lines: found,
  junk,
  sharedLines: glued,
  size,
  endsWithNewline: isEnded,
}: LogScan): RepairPlan => {
  const lines = isConsecutive(found) ? found : sortAndDeduplicate(found);
  const last = found.at(-1)?.end ?? 0;
  const inside = junk.filter(({ start }) => start < last);
  const after = junk.filter(({ start }) => start >= last);
  const misplaced = lines === found ? 0 : countMisplaced(found);
  const repeated = found.length - lines.length;
  const isHeadless = !lines[0]?.text.startsWith('{"kind":"head"');
  const inner: readonly SessionDamage[] = [
    ...(isHeadless ? ([{ kind: "no-head" }] as const) : []),
    ...inside.map(
      ({ start, end }) => ({ kind: "damaged", bytes: end - start, after: lastSequenceBefore(found, start) }) as const,
    ),
    ...findGaps(lines),
    ...(repeated > 0 ? ([{ kind: "repeated", records: repeated }] as const) : []),
    ...(misplaced > 0 ? ([{ kind: "out-of-order", records: misplaced }] as const) : []),
    ...(glued > 0 ? ([{ kind: "glued", records: glued }] as const) : []),
  ];
  const outer: readonly SessionDamage[] = [
    ...(after.length > 0 ? ([{ kind: "torn-end", bytes: size - (after[0]?.start ?? size) }] as const) : []),
    ...(after.length === 0 && !isEnded && size > 0 ? ([{ kind: "unended" }] as const) : []),
  ];
  return { lines, damage: [...inner, ...outer], action: chooseAction({ inner, outer, at: last, junk, after }) };
};

type FoundDamage = {
  readonly inner: readonly SessionDamage[];
  readonly outer: readonly SessionDamage[];
  readonly at: number;
  readonly junk: readonly ByteRange[];
  readonly after: readonly ByteRange[];
};

const chooseAction = ({ inner, outer, at, junk, after }: FoundDamage): RepairAction => {
  if (inner.length > 0) return { type: "rewrite", cutRanges: junk };
  return outer.length > 0 ? { type: "cut", at, cutRanges: after } : { type: "none" };
};

const isConsecutive = (lines: readonly LogLine[]): boolean =>
  lines.every(({ sequence }, index) => index === 0 || sequence === (lines[index - 1]?.sequence ?? 0) + 1);

/** In order of their numbers, each once. Two that differ and share a number stay as they stood. */
const sortAndDeduplicate = (lines: readonly LogLine[]): readonly LogLine[] => {
  const seen = new Set<string>();
  const once = lines.filter(({ sequence, checksum: sum, text }) => {
    const mark = `${sequence}.${sum}.${text.length}`;
    return !seen.has(mark) && seen.add(mark) !== undefined;
  });
  return once.toSorted((one, other) => one.sequence - other.sequence);
};

/** How many records came after one with a higher number, or share a number with another, repetitions aside. */
const countMisplaced = (lines: readonly LogLine[]): number => {
  const sums = new Map<number, string>();
  let highest = 0;
  let count = 0;
  for (const { sequence, checksum: sum } of lines) {
    if (sequence <= highest && sums.get(sequence) !== sum) count += 1;
    if (!sums.has(sequence)) sums.set(sequence, sum);
    highest = Math.max(highest, sequence);
  }
  return count;
};

const findGaps = (lines: readonly LogLine[]): readonly SessionDamage[] =>
  lines.flatMap(({ sequence }, index): readonly SessionDamage[] => {
    const previous = lines[index - 1]?.sequence ?? 0;
    const records = sequence - previous - 1;
    return records > 0 ? [{ kind: "lost", records, after: previous }] : [];
  });

/** The number of the last record before a place. */
const lastSequenceBefore = (lines: readonly LogLine[], place: number): number =>
  lines.findLast(({ end }) => end <= place)?.sequence ?? 0;
