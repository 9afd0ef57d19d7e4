import type { Token, Tokens } from "marked";
import { line, span } from "../text/line.ts";
import type { StyledLine, StyledSpan, Style } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { viewTable } from "../views/table.ts";
import type { Highlighter } from "./highlight.ts";
import { inlineLines } from "./inline.ts";

/** Options for rendering tokens. */
export type MarkdownRenderOptions = { readonly width: number; readonly highlighter: Highlighter };

/** The minimum width, at any nesting depth. */
const minWidth = 8;

/** Renders marked's tokens as lines of at most the width. */
export const renderTokens = (tokens: readonly Token[], rendering: MarkdownRenderOptions): readonly StyledLine[] => {
  const lines: StyledLine[] = [];
  let isApart = false;
  for (const token of tokens as readonly Tokens.Generic[]) {
    if (token.type === "space") {
      isApart = true;
      continue;
    }
    const rendered = renderToken(token, rendering);
    if (rendered.length === 0) continue;
    if (lines.length > 0 && (isApart || token.type === "paragraph")) lines.push([]);
    for (const each of rendered) lines.push(each);
    isApart = false;
  }
  return lines;
};

const renderToken = (token: Tokens.Generic, rendering: MarkdownRenderOptions): readonly StyledLine[] => {
  const { width } = rendering;
  switch (token.type) {
    case "heading":
      return heading(token as Tokens.Heading, width);
    case "hr":
      return [line("─".repeat(width), muted)];
    case "code":
      return codeLines(token as Tokens.Code, rendering);
    case "blockquote":
      return quote(token as Tokens.Blockquote, rendering);
    case "list":
      return (token as Tokens.List).items.flatMap((item, at) => listItem(item, token as Tokens.List, at, rendering));
    case "table":
      return table(token as Tokens.Table, width);
    case "checkbox":
      return [];
    case "paragraph":
    case "text":
      return inlineLines(token.tokens ?? [token as Token]).flatMap((each) => wrap(each, { width }));
  }
  // Link definitions and HTML are shown as written, so that nothing is lost.
  return token.raw
    .trimEnd()
    .split("\n")
    .flatMap((each) => wrap([span(each, muted)], { width }));
};

const muted: Style = { tone: "muted" };

const heading = ({ depth, tokens }: Tokens.Heading, width: number): readonly StyledLine[] => {
  const style: Style = depth === 1 ? { tone: "heading", bold: true, underline: true } : { tone: "heading", bold: true };
  const first: StyledSpan = { text: depth > 2 ? `${"#".repeat(depth)} ` : "", style };
  return inlineLines(tokens, style).flatMap((each) => wrap(each, { width, first: [first] }));
};

const codeLines = (token: Tokens.Code, { width, highlighter }: MarkdownRenderOptions): readonly StyledLine[] => {
  const { text } = token;
  const language = languageOf(token);
  const lines = highlighter.state(language) === "ready" ? highlighter.highlight(text, language).lines : plainCode(text);
  return lines.flatMap((each) => codeLine(each, width));
};

const languageOf = ({ lang = "" }: Tokens.Code): string => lang.split(/\s/)[0] ?? "";

const plainCode = (text: string): readonly StyledLine[] => text.split("\n").map((each) => [span(each)]);

/** Indents a line of code and wraps it by characters. */
export const codeLine = (code: StyledLine, width: number): readonly StyledLine[] => {
  const indent: StyledLine = [{ text: "  ", style: {} }];
  return wrap(code, { width: Math.max(minWidth, width), breakAt: "characters", first: indent, rest: indent });
};

const quote = ({ tokens }: Tokens.Blockquote, { width, highlighter }: MarkdownRenderOptions): readonly StyledLine[] => {
  const bar: StyledSpan = { text: "│ ", style: muted };
  const inner = renderTokens(tokens, { width: Math.max(minWidth, width - 2), highlighter });
  return inner.map((each) => [
    bar,
    ...each.map(({ text, style }) => ({ text, style: { tone: "muted" as const, ...style } })),
  ]);
};

const listItem = (
  { tokens, task, checked, loose }: Tokens.ListItem,
  { ordered, start }: Tokens.List,
  at: number,
  { width, highlighter }: MarkdownRenderOptions,
): readonly StyledLine[] => {
  const mark = ordered ? `${Number(start || 1) + at}. ` : "• ";
  const box = task ? (checked ? "[x] " : "[ ] ") : "";
  const indent = " ".repeat(mark.length);
  const lines = renderTokens(tokens, { width: Math.max(minWidth, width - mark.length - box.length), highlighter });
  const first: StyledLine = [{ text: mark, style: { tone: "accent" } }, { text: box, style: {} }, ...(lines[0] ?? [])];
  const rest = lines
    .slice(1)
    .map((each): StyledLine =>
      each.length === 0 ? [] : [{ text: indent + " ".repeat(box.length), style: {} }, ...each],
    );
  return [...(loose && at > 0 ? [[]] : []), first, ...rest];
};

const table = ({ header, rows, align }: Tokens.Table, width: number): readonly StyledLine[] => {
  const cell = ({ tokens }: Tokens.TableCell): StyledLine => inlineLines(tokens).flat();
  return viewTable({ head: header.map(cell), rows: rows.map((row) => row.map(cell)), align }, width);
};

/** The languages of all code blocks in these tokens. */
export const languagesIn = (tokens: readonly Token[]): readonly string[] =>
  (tokens as readonly Tokens.Generic[]).flatMap((token) => {
    if (token.type === "code") return [languageOf(token as Tokens.Code)];
    if (token.type === "list") return (token as Tokens.List).items.flatMap((item) => languagesIn(item.tokens));
    return token.type === "blockquote" ? languagesIn(token.tokens ?? []) : [];
  });
