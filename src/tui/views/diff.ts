import type { ColourLines } from "../markdown/code-colours.ts";
import { line, lineText, padLine, span } from "../text/line.ts";
import type { Background, StyledLine, StyledSpan, Style } from "../text/style.ts";
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
  /** The colours of the file's code. Without them, changed lines are green and red. */
  readonly colours?: ColourLines | undefined;
};

/** Shows a unified diff with line numbers, colours, and word-level changes. */
export const viewDiff = (
  patch: string,
  { width, context = 3, isNameless = false, height, colours }: DiffOptions,
): readonly StyledLine[] => {
  const lines = readPatch(patch).filter(({ kind }) => !isNameless || kind !== "file");
  const digits = Math.max(1, ...lines.map(({ old, fresh }) => String(Math.max(old ?? 0, fresh ?? 0)).length));
  const marked = colours === undefined ? markChanges(lines) : colourLines(markChanges(lines), colours);
  const shown = foldUnchanged(marked, context).flatMap((each) => viewLine(each, { width, digits }));
  if (height === undefined || shown.length <= height) return shown;
  const hidden = shown.length - height + 1;
  return [...shown.slice(0, height - 1), line(`… ${hidden} more lines`, { tone: "muted" })];
};

type DiffLine = PatchLine & {
  readonly parts: readonly DiffPart[];
  /** Its text in colours. */
  readonly tokens?: StyledLine | undefined;
};

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

/** Adds the colours of the code, which are those of the old file for removed lines. */
const colourLines = (lines: readonly DiffLine[], colours: ColourLines): readonly DiffLine[] => {
  const tokens = new Map<DiffLine, StyledLine>();
  for (const kind of ["removed", "added"] as const)
    for (const block of codeBlocks(lines, kind)) {
      const texts = block.map(({ parts }) => parts.map(({ text }) => span(text).text).join(""));
      const coloured = colours(texts) ?? [];
      block.forEach((each, at) => {
        const found = coloured[at];
        // Colours never change what is shown.
        if (found !== undefined && lineText(found) === texts[at]) tokens.set(each, found);
      });
    }
  return lines.map((each) => ({ ...each, tokens: tokens.get(each) }));
};

/** The runs of neighbouring lines of the old file ("removed") or of the new one. */
const codeBlocks = (lines: readonly DiffLine[], kind: "removed" | "added"): readonly (readonly DiffLine[])[] => {
  const blocks: DiffLine[][] = [[]];
  for (const each of lines)
    if (each.kind === "same" || each.kind === kind) blocks.at(-1)?.push(each);
    else if (each.kind !== "removed" && each.kind !== "added") blocks.push([]);
  return blocks.filter((block) => block.length > 0);
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
  { kind, text, old, fresh, parts, tokens }: DiffLine,
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
      return wrap(tokens ?? [span(text)], codeWrap(`${gutter}   `, width));
    case "added":
      return viewChangedLine(parts, tokens, { ...codeWrap(`${gutter} + `, width), background: "added" });
    case "removed":
      return viewChangedLine(parts, tokens, { ...codeWrap(`${gutter} - `, width), background: "removed" });
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
  tokens: StyledLine | undefined,
  { background, ...options }: ReturnType<typeof codeWrap> & { readonly background: "added" | "removed" },
): readonly StyledLine[] => {
  const strong: Background = background === "added" ? "added-strong" : "removed-strong";
  const styleOf = (isChanged: boolean, style: Style): Style => ({
    ...style,
    background: isChanged ? strong : background,
  });
  const spans =
    tokens === undefined
      ? parts.map(({ text, isChanged }) => span(text, styleOf(isChanged, { tone: background })))
      : splitTokens(tokens, parts).map(({ text, style, isChanged }) => span(text, styleOf(isChanged, style)));
  const sign = options.first.map(({ text }): StyledSpan => ({ text, style: { tone: background, background } }));
  const rest = options.rest.map(({ text }): StyledSpan => ({ text, style: { tone: background, background } }));
  return wrap(spans, { ...options, first: sign, rest }).map((each) =>
    padLine(each, options.width, { tone: background, background }),
  );
};

type TokenPart = StyledSpan & { readonly isChanged: boolean };

/** Splits coloured text where the changed parts begin and end. */
const splitTokens = (tokens: StyledLine, parts: readonly DiffPart[]): readonly TokenPart[] => {
  const split: TokenPart[] = [];
  let from = 0;
  for (const { text, isChanged } of parts) {
    const to = from + span(text).text.length;
    let at = 0;
    for (const { text: token, style } of tokens) {
      const shared = token.slice(Math.max(0, from - at), Math.max(0, to - at));
      if (shared !== "") split.push({ text: shared, style, isChanged });
      at += token.length;
    }
    from = to;
  }
  return split;
};
