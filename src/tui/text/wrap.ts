import { mergeSpans, lineWidth } from "./line.ts";
import type { StyledLine, StyledSpan } from "./style.ts";
import { textWidth, graphemeWidth, graphemesOf } from "./width.ts";

/** Wrapping options. `first` and `rest` are put before the first line and before all others. */
export type WrapOptions = {
  readonly width: number;
  readonly first?: StyledLine;
  readonly rest?: StyledLine;
  /**
   * Between words where possible; wherever the line is full; or, for a shell command, after spaces and operators. All but
   * `words` keep every character: the lines joined are the text.
   */
  readonly breakAt?: "words" | "characters" | "arguments";
};

/** Wraps a line to the width. Only words that fit on no line are broken, unless lines break at characters. */
export const wrap = (
  spans: StyledLine,
  { width, first = [], rest = [], breakAt = "words" }: WrapOptions,
): readonly StyledLine[] => {
  const lines: StyledLine[] = [];
  const room = Math.max(1, width - lineWidth(rest));
  let current: StyledSpan[] = [];
  let columns = 0;
  let limit = Math.max(1, width - lineWidth(first));
  const end = (): void => {
    lines.push(
      mergeSpans([...(lines.length === 0 ? first : rest), ...(breakAt === "words" ? trimEnd(current) : current)]),
    );
    current = [];
    columns = 0;
    limit = room;
  };
  const add = (unit: WrapUnit): void => {
    if (columns + unit.columns > limit && columns > 0) end();
    current.push(...unit.spans);
    columns += unit.columns;
  };
  for (const unit of splitUnits[breakAt](spans)) {
    const isBetween = unit.isSpace && (columns === 0 ? lines.length > 0 : columns + unit.columns > limit);
    if (isBetween && columns > 0) end();
    if (isBetween) continue;
    if (unit.columns <= limit || (columns > 0 && unit.columns <= room)) add(unit);
    else for (const piece of unit.spans.flatMap(graphemeUnits)) add(piece);
  }
  if (current.length > 0 || lines.length === 0) end();
  return lines;
};

/** An unbreakable unit: a word of any styles, a wide grapheme, or spaces. */
type WrapUnit = { readonly spans: readonly StyledSpan[]; readonly columns: number; readonly isSpace: boolean };

function* wordUnits(spans: StyledLine): Generator<WrapUnit> {
  let word: StyledSpan[] = [];
  let columns = 0;
  const taken = (): WrapUnit => {
    const unit = { spans: word, columns, isSpace: false };
    word = [];
    columns = 0;
    return unit;
  };
  for (const { text, style } of spans)
    for (const piece of piecesOf(text)) {
      const isSpace = piece.startsWith(" ");
      const isAlone = isSpace || (!isNarrow(piece) && textWidth(piece) > 1);
      if (isAlone && word.length > 0) yield taken();
      if (isAlone) yield { spans: [{ text: piece, style }], columns: textWidth(piece), isSpace };
      else {
        word.push({ text: piece, style });
        columns += textWidth(piece);
      }
    }
  if (word.length > 0) yield taken();
}

/** Words and the spaces between them; words of wide scripts by grapheme, since their lines may break anywhere. */
const piecesOf = (text: string): readonly string[] =>
  (text.match(/ +|[^ ]+/g) ?? []).flatMap((word) => (isNarrow(word) ? [word] : graphemesOf(word)));

/** No character up to here is wide. */
const isNarrow = (word: string): boolean => /^[\0-\u10ff]*$/.test(word);

/** Arguments of a command with the spaces or operators after them: one that ends a line shows that no word was broken there. */
const argumentUnits = ({ text, style }: StyledSpan): readonly WrapUnit[] =>
  (text.match(/[^ ;|&]*(?:[;|&]+ *| +)|[^ ;|&]+/g) ?? []).map((piece) => ({
    spans: [{ text: piece, style }],
    columns: textWidth(piece),
    isSpace: false,
  }));

const graphemeUnits = ({ text, style }: StyledSpan): readonly WrapUnit[] =>
  graphemesOf(text).map((grapheme) => ({
    spans: [{ text: grapheme, style }],
    columns: graphemeWidth(grapheme),
    isSpace: false,
  }));

const splitUnits: Readonly<Record<NonNullable<WrapOptions["breakAt"]>, (spans: StyledLine) => Iterable<WrapUnit>>> = {
  words: wordUnits,
  characters: (spans) => spans.flatMap(graphemeUnits),
  arguments: (spans) => spans.flatMap(argumentUnits),
};

/** Removes the spaces at which a line was broken. */
const trimEnd = (spans: readonly StyledSpan[]): StyledLine => {
  const last = spans.at(-1);
  if (last === undefined || !last.text.endsWith(" ")) return spans;
  const text = last.text.replace(/ +$/, "");
  return text === "" ? trimEnd(spans.slice(0, -1)) : [...spans.slice(0, -1), { text, style: last.style }];
};
