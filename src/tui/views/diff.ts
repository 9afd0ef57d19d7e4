import { line, padLine, span } from "../text/line.ts";
import type { Background, StyledLine, StyledSpan } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { type PatchLine, readPatch } from "./patch.ts";
import { changedParts } from "./word-diff.ts";

/** Options for showing a diff. */
export type DiffOptions = {
  readonly width: number;
  /** Unchanged lines around a change; more are folded to one line with their number. */
  readonly context?: number;
  /** Whether the lines with the name of the file are left out, as it is named above. */
  readonly isNameless?: boolean;
  /** Line limit; lines beyond it are counted. No limit by default. */
  readonly height?: number;
};

/** Shows a unified diff with line numbers, colours, and word-level changes. */
export const viewDiff = (
  patch: string,
  { width, context = 3, isNameless = false, height }: DiffOptions,
): readonly StyledLine[] => {
  const lines = readPatch(patch).filter(({ kind }) => !isNameless || kind !== "file");
  const digits = Math.max(1, ...lines.map(({ old, fresh }) => String(Math.max(old ?? 0, fresh ?? 0)).length));
  const shown = foldUnchanged(markChanges(lines), context).flatMap((each) => viewLine(each, { width, digits }));
  if (height === undefined || shown.length <= height) return shown;
  const hidden = shown.length - height + 1;
  return [...shown.slice(0, height - 1), line(`… ${hidden} more lines`, { tone: "muted" })];
};

type DiffLine = PatchLine & { readonly parts: readonly DiffPart[] };

/** A part of a line, and whether it changed. */
type DiffPart = { readonly text: string; readonly isChanged: boolean };

/** Pairs removed lines with the added ones that replace them, to find the changes within. */
const markChanges = (lines: readonly PatchLine[]): readonly DiffLine[] => {
  const shown: DiffLine[] = [];
  for (let at = 0; at < lines.length;) {
    const removed = runOf(lines, at, "removed");
    const added = runOf(lines, at + removed.length, "added");
    const pairs = removed.map((each, index) => [each, added[index]] as const);
    const isPaired = removed.length === added.length;
    const parts = pairs.map(([old, fresh]) =>
      isPaired && fresh !== undefined ? changedParts(old.text, fresh.text) : undefined,
    );
    removed.forEach((each, index) => shown.push({ ...each, parts: parts[index]?.old ?? whole(each.text) }));
    added.forEach((each, index) => shown.push({ ...each, parts: parts[index]?.fresh ?? whole(each.text) }));
    at += removed.length + added.length;
    const next = lines[at];
    if (removed.length + added.length > 0 || next === undefined) continue;
    shown.push({ ...next, parts: whole(next.text) });
    at += 1;
  }
  return shown;
};

const whole = (text: string): readonly DiffPart[] => [{ text, isChanged: false }];

const runOf = (lines: readonly PatchLine[], from: number, kind: PatchLine["kind"]): readonly PatchLine[] => {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
};

/** Folds unchanged lines far from any change into one line with their number. */
const foldUnchanged = (lines: readonly DiffLine[], context: number): readonly DiffLine[] => {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, at) => {
    if (kind === "same") return;
    const reach = kind === "added" || kind === "removed" ? context : 0;
    for (let near = Math.max(0, at - reach); near <= Math.min(lines.length - 1, at + reach); near++)
      isNear[near] = true;
  });
  const kept: DiffLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    const each = lines[at];
    if (each === undefined) break;
    if (isNear[at]) {
      kept.push(each);
      continue;
    }
    let end = at;
    while (end < lines.length && !isNear[end]) end += 1;
    const text = `${end - at} unchanged ${end - at === 1 ? "line" : "lines"}`;
    kept.push({ kind: "fold", text, old: undefined, fresh: undefined, parts: whole(text) });
    at = end - 1;
  }
  return kept;
};

const viewLine = (
  { kind, text, old, fresh, parts }: DiffLine,
  { width, digits }: { readonly width: number; readonly digits: number },
): readonly StyledLine[] => {
  const number = kind === "removed" ? old : fresh;
  const gutter = `${number === undefined ? "" : number}`.padStart(digits);
  switch (kind) {
    case "file":
      return wrap([span(text, { bold: true })], { width });
    case "note":
    case "fold":
      return wrap([span(`${" ".repeat(digits)} ${kind === "fold" ? "⋯ " : ""}${text}`, { tone: "muted" })], { width });
    case "same":
      return wrap([span(text)], codeWrap(`${gutter}   `, width));
    case "added":
      return viewChangedLine(parts, { ...codeWrap(`${gutter} + `, width), background: "added" });
    case "removed":
      return viewChangedLine(parts, { ...codeWrap(`${gutter} - `, width), background: "removed" });
  }
};

const codeWrap = (
  gutter: string,
  width: number,
): {
  readonly width: number;
  readonly breakAt: "characters";
  readonly first: StyledLine;
  readonly rest: StyledLine;
} => ({
  width,
  breakAt: "characters",
  first: [{ text: gutter, style: { tone: "muted" } }],
  rest: [{ text: " ".repeat(gutter.length), style: {} }],
});

const viewChangedLine = (
  parts: readonly DiffPart[],
  { background, ...options }: ReturnType<typeof codeWrap> & { readonly background: "added" | "removed" },
): readonly StyledLine[] => {
  const strong: Background = background === "added" ? "added-strong" : "removed-strong";
  const spans = parts.map(({ text, isChanged }): StyledSpan =>
    span(text, { tone: background, background: isChanged ? strong : background }),
  );
  const sign = options.first.map(({ text }): StyledSpan => ({ text, style: { tone: background, background } }));
  const rest = options.rest.map(({ text }): StyledSpan => ({ text, style: { tone: background, background } }));
  return wrap(spans, { ...options, first: sign, rest }).map((each) =>
    padLine(each, options.width, { tone: background, background }),
  );
};
