import { diffLines, type LineChange } from "./diff-lines.ts";
import type { DiffStat, ToolDisplay, EditProposal } from "../tool.ts";

/** An edit as people look at it. `proposed` is what the model wanted. */
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

const diffTexts = (old: string, fresh: string): readonly LineChange[] => diffLines(splitLines(old), splitLines(fresh));

/** Lines with their ends. */
const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Whose lines an edit adds and removes: the model's up to what it proposed, the person's from there on. */
const countLines = (mine: readonly LineChange[], theirs: readonly LineChange[]): DiffStat => ({
  aiAdded: countSign(mine, "+"),
  aiRemoved: countSign(mine, "-"),
  userAdded: countSign(theirs, "+"),
  userRemoved: countSign(theirs, "-"),
});

const countSign = (changes: readonly LineChange[], wanted: LineChange["sign"]): number =>
  changes.filter(({ sign }) => sign === wanted).length;

/** Changes that stand close together, with the lines around them, and where they begin in either text. */
type DiffHunk = { readonly old: number; readonly fresh: number; readonly changes: readonly LineChange[] };

/** How many unchanged lines are shown around a change. */
const contextLines = 3;

const groupHunks = (changes: readonly LineChange[]): readonly DiffHunk[] => {
  const hunks: DiffHunk[] = [];
  let [old, fresh, from] = [0, 0, 0];
  for (const [start, end] of findHunkRanges(changes)) {
    for (; from < start; from++) {
      if (changes[from]?.sign !== "+") old += 1;
      if (changes[from]?.sign !== "-") fresh += 1;
    }
    hunks.push({ old, fresh, changes: changes.slice(start, end) });
  }
  return hunks;
};

/** Where hunks begin and end in the list of changes. */
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

const formatHunk = ({ old, fresh, changes }: DiffHunk): string => {
  const count = (unwanted: LineChange["sign"]): number => changes.length - countSign(changes, unwanted);
  // Without lines on one side, a hunk stands after the line before it.
  const range = (before: number, lines: number): string => `${lines === 0 ? before : before + 1},${lines}`;
  const text = changes.map(({ sign, line }) =>
    line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range(old, count("+"))} +${range(fresh, count("-"))} @@\n${text.join("")}`;
};
