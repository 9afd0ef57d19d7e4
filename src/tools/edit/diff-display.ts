import { diffLines, type LineChange } from "./diff-lines.ts";
import type { DiffStat, ToolDisplay, EditProposal } from "../tool.ts";

/** Creates the display of an edit. `proposed` is the model's text. */
export const createDiffDisplay = (
  { path, before, after }: EditProposal,
  proposed: string,
): Extract<ToolDisplay, { type: "diff" }> => {
  const changes = diffTexts(before ?? "", after);
  const name = onOneLine(path);
  const heading = `--- ${before === undefined ? "/dev/null" : name}\n+++ ${name}\n`;
  return {
    type: "diff",
    path,
    before,
    after,
    patch: `${heading}${groupHunks(changes).map(formatHunk).join("")}`,
    stat:
      proposed === after
        ? countLines(changes, [])
        : countLines(diffTexts(before ?? "", proposed), diffTexts(proposed, after)),
  };
};

/** A path that cannot add lines to the patch it heads. */
const onOneLine = (path: string): string => path.replaceAll(/[\r\n\u0085\u2028\u2029]/g, "␤");

const diffTexts = (old: string, updated: string): readonly LineChange[] =>
  diffLines(splitLines(old), splitLines(updated));

/** Splits a text into lines that keep their line endings. */
const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Counts changed lines: the model's up to its proposal, the user's from there on. */
const countLines = (mine: readonly LineChange[], theirs: readonly LineChange[]): DiffStat => ({
  aiAdded: countSign(mine, "+"),
  aiRemoved: countSign(mine, "-"),
  userAdded: countSign(theirs, "+"),
  userRemoved: countSign(theirs, "-"),
});

const countSign = (changes: readonly LineChange[], wanted: LineChange["sign"]): number =>
  changes.filter(({ sign }) => sign === wanted).length;

/** Nearby changes with the lines around them, and their start in either text. */
type DiffHunk = { readonly old: number; readonly fresh: number; readonly changes: readonly LineChange[] };

/** Unchanged lines shown around a change. */
const contextLines = 3;

const groupHunks = (changes: readonly LineChange[]): readonly DiffHunk[] => {
  const hunks: DiffHunk[] = [];
  let [old, updated, from] = [0, 0, 0];
  for (const [start, end] of findHunkRanges(changes)) {
    for (; from < start; from++) {
      if (changes[from]?.sign !== "+") old += 1;
      if (changes[from]?.sign !== "-") updated += 1;
    }
    hunks.push({ old, fresh: updated, changes: changes.slice(start, end) });
  }
  return hunks;
};

/** The start and end of each hunk in the list of changes. */
const findHunkRanges = (changes: readonly LineChange[]): readonly (readonly [start: number, end: number])[] => {
  const found: [number, number][] = [];
  changes.forEach(({ sign }, at) => {
    if (sign === " ") return;
    const last = found.at(-1);
    const end = Math.min(changes.length, at + 1 + contextLines);
    if (last !== undefined && at - contextLines <= last[1]) last[1] = end;
    else found.push([Math.max(0, at - contextLines), end]);
  });
  return found;
};

const formatHunk = ({ old, fresh: updated, changes }: DiffHunk): string => {
  const count = (unwanted: LineChange["sign"]): number => changes.length - countSign(changes, unwanted);
  // A side without lines refers to the line before the hunk.
  const range = (before: number, lines: number): string => `${lines === 0 ? before : before + 1},${lines}`;
  const text = changes.map(({ sign, line }) =>
    line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range(old, count("+"))} +${range(updated, count("-"))} @@\n${text.join("")}`;
};
