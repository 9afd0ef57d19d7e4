import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { type StyledLine, sameStyle, type StyledSpan, type Style, unstyled } from "./style.ts";
import { textWidth, graphemeWidth, graphemesOf } from "./width.ts";

/** A span of any text, sanitized. */
export const span = (text: string, style: Style = unstyled): StyledSpan => ({ text: sanitizeLine(text), style });

/** A line of any text in one style, sanitized. */
export const line = (text: string, style: Style = unstyled): StyledLine => (text === "" ? [] : [span(text, style)]);

/** Splits any text into sanitized lines. */
export const toLines = (text: string, style: Style = unstyled): readonly StyledLine[] =>
  sanitizeForTerminal(text)
    .split("\n")
    .map((each) => line(each, style));

/** Sanitizes a text for one line: tabs become spaces, control characters become visible. */
export const sanitizeLine = (text: string): string => {
  const spaced = text.includes("\t") ? expandTabs(text) : text;
  return isPrintable(spaced) ? spaced : sanitizeForTerminal(spaced).replaceAll("\n", "␊");
};

/** Characters every terminal only displays: a fast path around sanitizing. */
const isPrintable = (text: string): boolean =>
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u2100-\u2bff\u3041-\u3096\u30a0-\u3163\u3165-\u9fff\uac00-\ud7a3]*$/.test(
    text,
  );

/** Columns between tab stops. */
const tabWidth = 4;

const expandTabs = (text: string): string => {
  const [first = "", ...rest] = text.split("\t");
  let laid = first;
  let columns = textWidth(first);
  for (const piece of rest) {
    const gap = tabWidth - (columns % tabWidth);
    laid += " ".repeat(gap) + piece;
    columns += gap + textWidth(piece);
  }
  return laid;
};

/** The width of a line in columns. */
export const lineWidth = (spans: StyledLine): number => spans.reduce((sum, { text }) => sum + textWidth(text), 0);

/** The text of a line without styles. */
export const lineText = (spans: StyledLine): string => spans.map(({ text }) => text).join("");

/** Merges neighbouring spans of the same style and drops empty ones. */
export const mergeSpans = (spans: StyledLine): StyledLine => {
  const merged: StyledSpan[] = [];
  for (const each of spans) {
    const last = merged.at(-1);
    if (each.text === "") continue;
    if (last !== undefined && sameStyle(last.style, each.style))
      merged[merged.length - 1] = { text: last.text + each.text, style: last.style };
    else merged.push(each);
  }
  return merged;
};

/** Truncates a line to the width, with a mark at the cut. */
export const truncate = (spans: StyledLine, width: number, mark = "…"): StyledLine => {
  if (lineWidth(spans) <= width) return spans;
  const room = width - textWidth(mark);
  if (room < 0) return [];
  const kept: StyledSpan[] = [];
  let columns = 0;
  for (const { text, style } of spans) {
    const fitting = takeColumns(text, room - columns);
    kept.push({ text: fitting, style });
    columns += textWidth(fitting);
    if (fitting.length < text.length) break;
  }
  return mergeSpans([...kept, { text: mark, style: kept.at(-1)?.style ?? unstyled }]);
};

/**
 * The longest prefix of a text within the width.
 *
 * @internal Exported for its tests.
 */
export const takeColumns = (text: string, width: number): string => {
  let columns = 0;
  let end = 0;
  // A grapheme takes at least one column; zero-width ones only follow others.
  for (const grapheme of graphemesOf(text.slice(0, Math.max(0, width) * 32 + 64))) {
    columns += graphemeWidth(grapheme);
    if (columns > width) break;
    end += grapheme.length;
  }
  return text.slice(0, end);
};

/** Pads a line with spaces to a width. */
export const padLine = (spans: StyledLine, width: number, style: Style = unstyled): StyledLine => {
  const missing = width - lineWidth(spans);
  return missing > 0 ? [...spans, { text: " ".repeat(missing), style }] : spans;
};
