import type { SessionDamage } from "./damage.ts";
import type { LogLine, ByteRange } from "../log/line.ts";
import type { LogScan } from "../log/scan.ts";

/** How to repair a file: not at all, by truncating it and ending its last line, or by rewriting it. */
type RepairAction =
  | { readonly type: "none" }
  | { readonly type: "cut"; readonly at: number; readonly cutRanges: readonly ByteRange[] }
  | { readonly type: "rewrite"; readonly cutRanges: readonly ByteRange[] };

/** The records of a file in order, without duplicates, the damage found, and how to repair it. */
export type RepairPlan = {
  readonly lines: readonly LogLine[];
  readonly damage: readonly SessionDamage[];
  readonly action: RepairAction;
};

/** Plans the repair of a scanned file. Every record with a valid checksum is kept, once. */
export const planRepair = ({ lines: found, junk, sharedLines, size, endsWithNewline }: LogScan): RepairPlan => {
  const lines = isConsecutive(found) ? found : sortAndDeduplicate(found);
  const last = found.at(-1)?.end ?? 0;
  const inside = junk.filter(({ start }) => start < last);
  const after = junk.filter(({ start }) => start >= last);
  const misplaced = lines === found ? 0 : countMisplaced(found);
  const repeated = found.length - lines.length;
  const lacksHead = !lines[0]?.text.startsWith('{"kind":"head"');
  const inner: readonly SessionDamage[] = [
    ...(lacksHead ? ([{ kind: "no-head" }] as const) : []),
    ...inside.map(
      ({ start, end }) => ({ kind: "damaged", bytes: end - start, after: lastSequenceBefore(found, start) }) as const,
    ),
    ...findGaps(lines),
    ...(repeated > 0 ? ([{ kind: "repeated", records: repeated }] as const) : []),
    ...(misplaced > 0 ? ([{ kind: "out-of-order", records: misplaced }] as const) : []),
    ...(sharedLines > 0 ? ([{ kind: "shared-line", records: sharedLines }] as const) : []),
  ];
  const outer: readonly SessionDamage[] = [
    ...(after.length > 0 ? ([{ kind: "truncated-end", bytes: size - (after[0]?.start ?? size) }] as const) : []),
    ...(after.length === 0 && !endsWithNewline && size > 0 ? ([{ kind: "no-final-newline" }] as const) : []),
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

/** Sorts by sequence number and removes duplicates. Different records with the same number keep their order. */
const sortAndDeduplicate = (lines: readonly LogLine[]): readonly LogLine[] => {
  const seen = new Set<string>();
  const unique = lines.filter(({ sequence, checksum, text }) => {
    const key = `${sequence}.${checksum}.${text.length}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  });
  return unique.toSorted((one, other) => one.sequence - other.sequence);
};

/** Counts records that follow one with a higher number or share a number with another, duplicates excluded. */
const countMisplaced = (lines: readonly LogLine[]): number => {
  const checksums = new Map<number, string>();
  let highest = 0;
  let count = 0;
  for (const { sequence, checksum } of lines) {
    if (sequence <= highest && checksums.get(sequence) !== checksum) count += 1;
    if (!checksums.has(sequence)) checksums.set(sequence, checksum);
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

/** The sequence number of the last record before an offset. */
const lastSequenceBefore = (lines: readonly LogLine[], offset: number): number =>
  lines.findLast(({ end }) => end <= offset)?.sequence ?? 0;
