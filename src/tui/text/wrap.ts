import { joined, lineColumns } from "./line.ts";
import type { Line, Span } from "./style.ts";
import { columnsOf, columnsOfGrapheme, graphemesOf } from "./width.ts";

/** How lines are broken. `first` and `rest` stand before the first line and before all others. */
export type WrapOptions = {
  readonly width: number;
  readonly first?: Line;
  readonly rest?: Line;
  /** Between words where possible, or wherever the line is full. */
  readonly at?: "words" | "letters";
};

/** One line as lines no wider than the width. Only words that fit on no line are broken. */
export const wrap = (spans: Line, { width, first = [], rest = [], at = "words" }: WrapOptions): readonly Line[] => {
  const lines: Line[] = [];
  const room = Math.max(1, width - lineColumns(rest));
  let current: Span[] = [];
  let columns = 0;
  let limit = Math.max(1, width - lineColumns(first));
  const end = (): void => {
    lines.push(joined([...(lines.length === 0 ? first : rest), ...(at === "words" ? withoutEnd(current) : current)]));
    current = [];
    columns = 0;
    limit = room;
  };
  const add = (unit: Unit): void => {
    if (columns + unit.columns > limit && columns > 0) end();
    current.push(...unit.spans);
    columns += unit.columns;
  };
  for (const unit of at === "words" ? unitsOf(spans) : spans.flatMap(lettersOf)) {
    const isBetween = unit.isSpace && (columns === 0 ? lines.length > 0 : columns + unit.columns > limit);
    if (isBetween && columns > 0) end();
    if (isBetween) continue;
    if (unit.columns <= limit || (columns > 0 && unit.columns <= room)) add(unit);
    else for (const letter of unit.spans.flatMap(lettersOf)) add(letter);
  }
  if (current.length > 0 || lines.length === 0) end();
  return lines;
};

/** What stays together on a line: a word, whatever its styles; a wide letter; the spaces between. */
type Unit = { readonly spans: readonly Span[]; readonly columns: number; readonly isSpace: boolean };

function* unitsOf(spans: Line): Generator<Unit> {
  let word: Span[] = [];
  let columns = 0;
  const taken = (): Unit => {
    const unit = { spans: word, columns, isSpace: false };
    word = [];
    columns = 0;
    return unit;
  };
  for (const { text, style } of spans)
    for (const piece of piecesOf(text)) {
      const isSpace = piece.startsWith(" ");
      const isAlone = isSpace || (!isNarrow(piece) && columnsOf(piece) > 1);
      if (isAlone && word.length > 0) yield taken();
      if (isAlone) yield { spans: [{ text: piece, style }], columns: columnsOf(piece), isSpace };
      else {
        word.push({ text: piece, style });
        columns += columnsOf(piece);
      }
    }
  if (word.length > 0) yield taken();
}

/** Words and the spaces between them; words of wide scripts letter by letter, since their lines may break anywhere. */
const piecesOf = (text: string): readonly string[] =>
  (text.match(/ +|[^ ]+/g) ?? []).flatMap((word) => (isNarrow(word) ? [word] : graphemesOf(word)));

/** No letter up to here is wide. */
const isNarrow = (word: string): boolean => /^[\0-\u10ff]*$/.test(word);

const lettersOf = ({ text, style }: Span): readonly Unit[] =>
  graphemesOf(text).map((grapheme) => ({
    spans: [{ text: grapheme, style }],
    columns: columnsOfGrapheme(grapheme),
    isSpace: false,
  }));

/** Without the spaces at which a line was broken. */
const withoutEnd = (spans: readonly Span[]): Line => {
  const last = spans.at(-1);
  if (last === undefined || !last.text.endsWith(" ")) return spans;
  const text = last.text.replace(/ +$/, "");
  return text === "" ? withoutEnd(spans.slice(0, -1)) : [...spans.slice(0, -1), { text, style: last.style }];
};
