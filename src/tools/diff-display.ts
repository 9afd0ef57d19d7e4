import { diffLines, type Change } from "./diff-lines.ts";
import type { DiffStat, Display, Proposal } from "./tool.ts";

/** An edit as people look at it. `proposed` is what the model wanted. */
export const diffDisplay = (
  { path, before, after }: Proposal,
  proposed: string,
): Extract<Display, { type: "diff" }> => {
  const changes = changesOf(before ?? "", after);
  const name = inOneLine(path);
  const heading = `--- ${before === undefined ? "/dev/null" : name}\n+++ ${name}\n`;
  return {
    type: "diff",
    path,
    before,
    after,
    patch: `${heading}${hunksOf(changes).map(hunkText).join("")}`,
    stat:
      proposed === after ? statOf(changes, []) : statOf(changesOf(before ?? "", proposed), changesOf(proposed, after)),
  };
};

/** A path that cannot add lines to the patch it heads. */
const inOneLine = (path: string): string => path.replaceAll(/[\r\n\u0085\u2028\u2029]/g, "␤");

const changesOf = (old: string, fresh: string): readonly Change[] => diffLines(linesOf(old), linesOf(fresh));

/** Lines with their ends. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Whose lines an edit adds and removes: the model's up to what it proposed, the person's from there on. */
const statOf = (mine: readonly Change[], theirs: readonly Change[]): DiffStat => ({
  aiAdded: signed(mine, "+"),
  aiRemoved: signed(mine, "-"),
  userAdded: signed(theirs, "+"),
  userRemoved: signed(theirs, "-"),
});

const signed = (changes: readonly Change[], wanted: Change["sign"]): number =>
  changes.filter(({ sign }) => sign === wanted).length;

/** Changes that stand close together, with the lines around them, and where they begin in either text. */
type Hunk = { readonly old: number; readonly fresh: number; readonly changes: readonly Change[] };

/** How many unchanged lines are shown around a change. */
const around = 3;

const hunksOf = (changes: readonly Change[]): readonly Hunk[] => {
  const hunks: Hunk[] = [];
  let [old, fresh, from] = [0, 0, 0];
  for (const [start, end] of stretches(changes)) {
    for (; from < start; from++) {
      if (changes[from]?.sign !== "+") old += 1;
      if (changes[from]?.sign !== "-") fresh += 1;
    }
    hunks.push({ old, fresh, changes: changes.slice(start, end) });
  }
  return hunks;
};

/** Where hunks begin and end in the list of changes. */
const stretches = (changes: readonly Change[]): readonly (readonly [start: number, end: number])[] => {
  const found: [number, number][] = [];
  changes.forEach(({ sign }, at) => {
    if (sign === " ") return;
    const last = found.at(-1);
    const end = Math.min(changes.length, at + 1 + around);
    if (last !== undefined && at - around <= last[1]) last[1] = end;
    else found.push([Math.max(0, at - around), end]);
  });
  return found;
};

const hunkText = ({ old, fresh, changes }: Hunk): string => {
  const count = (unwanted: Change["sign"]): number => changes.length - signed(changes, unwanted);
  // Without lines on one side, a hunk stands after the line before it.
  const range = (before: number, lines: number): string => `${lines === 0 ? before : before + 1},${lines}`;
  const text = changes.map(({ sign, line }) =>
    line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range(old, count("+"))} +${range(fresh, count("-"))} @@\n${text.join("")}`;
};
