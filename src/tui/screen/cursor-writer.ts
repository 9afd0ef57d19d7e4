import { sameStyle, type Style, unstyled } from "../text/style.ts";
import type { SgrEncoder } from "./sgr.ts";
import type { RowChange, ScreenRow } from "./row.ts";

/** A position in the live region: row from its top, column from the left. */
export type CellPosition = { readonly row: number; readonly column: number };

/** A cursor position whose column may be unknown. */
type CursorPosition = { readonly row: number; readonly column: number | undefined };

/** Writes changes at their positions with minimal cursor movement. Tracks cursor position and style. */
export class CursorWriter {
  readonly #sgr: SgrEncoder;
  #text = "";
  #row: number;
  /** Undefined after a cell whose width differs between terminals. */
  #column: number | undefined;
  #style: Style = unstyled;
  #link: string | undefined;

  constructor(paint: SgrEncoder, at: CursorPosition) {
    this.#sgr = paint;
    this.#row = at.row;
    this.#column = at.column;
  }

  get text(): string {
    return this.#text;
  }

  /**
   * Moves the cursor. Down by line feeds, which also create rows: a terminal that became lower than last reported scrolls
   * then, where "cursor down" would stop at its last row and the way back up would end in final lines.
   */
  move({ row, column }: CellPosition): void {
    if (row < this.#row) this.#text += sequence(this.#row - row, "A");
    if (row > this.#row) {
      this.#setStyle(unstyled);
      this.#text += `\r${"\n".repeat(row - this.#row)}`;
      this.#column = 0;
    }
    this.#row = row;
    if (this.#column === column) return;
    this.#text += column === 0 ? "\r" : sequence(column + 1, "G");
    this.#column = column;
  }

  write({ cells, clear }: RowChange): void {
    if (clear === "before") this.#clear("K");
    for (const { text, style, columns, hasCertainWidth } of cells) {
      this.#setStyle(style);
      if (this.#column === undefined) this.#text += sequence(this.#expectedColumn + 1, "G");
      this.#text += text;
      this.#expectedColumn = (this.#column ?? this.#expectedColumn) + columns;
      this.#column = hasCertainWidth ? this.#expectedColumn : undefined;
    }
    if (clear === "after") this.#clear("K");
  }

  /**
   * Prints final rows and ends at the start of the row below them, which becomes row 0. Nothing later depends on how
   * many rows they took: a terminal that is narrower than last reported wraps them itself.
   */
  print(rows: readonly ScreenRow[], width: number): void {
    if (rows.length === 0) return;
    this.#text += "\u001b[?7h";
    for (const row of rows) {
      this.#writeWithoutPadding(row, width);
      this.#setStyle(unstyled);
      this.#text += "\r\n";
      this.#column = 0;
    }
    this.#text += "\u001b[?7l";
    this.#row = 0;
  }

  /**
   * Fills columns of an empty row with spaces, wrapped by the terminal. A row written over them is then as high in a
   * terminal that is narrower than last reported as one that became narrower later.
   */
  reserve(columns: number): void {
    if (columns === 0) return;
    this.#setStyle(unstyled);
    this.#text += `\u001b[?7h${" ".repeat(columns)}\u001b[?7l\r`;
    this.#column = 0;
  }

  /** Writes a row without the padding at its end, which would be copied with the text. A background is erased to instead. */
  #writeWithoutPadding({ cells, columns }: ScreenRow, width: number): void {
    const style = cells.at(-1)?.style ?? unstyled;
    const isPadding = (cell: ScreenRow["cells"][number]): boolean => cell.text === " " && sameStyle(cell.style, style);
    const isFilled = style.background !== undefined;
    const isKept = (isFilled && columns < width) || style.underline || style.inverse;
    const length = isKept ? cells.length : cells.findLastIndex((cell) => !isPadding(cell)) + 1;
    this.write({ column: 0, cells: cells.slice(0, length), clear: "no" });
    if (!isFilled || length === cells.length) return;
    this.#setStyle(style);
    this.#text += "\u001b[K";
  }

  /** Writes an image here and restores the cursor position. */
  writeImage(image: string): void {
    this.#setStyle(unstyled);
    this.#text += `\u001b7${image}\u001b8`;
  }

  /** Erases from here to the end of the screen. */
  clearBelow(): void {
    this.#clear("J");
  }

  /** Resets the style. */
  resetStyle(): void {
    this.#setStyle(unstyled);
  }

  /** The expected column after a cell of uncertain width. */
  #expectedColumn = 0;

  #clear(kind: "K" | "J"): void {
    this.#setStyle(unstyled);
    this.#text += `\u001b[${kind}`;
  }

  #setStyle(style: Style): void {
    if (!sameStyle(style, this.#style)) this.#text += this.#sgr.codes(style);
    if (style.link !== this.#link) this.#text += this.#sgr.link(style.link);
    this.#style = style;
    this.#link = style.link;
  }
}

const sequence = (count: number, letter: string): string => `\u001b[${count === 1 ? "" : count}${letter}`;
