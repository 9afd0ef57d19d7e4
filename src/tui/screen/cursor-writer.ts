import { sameStyle, type Style, unstyled } from "../text/style.ts";
import type { SgrEncoder } from "./sgr.ts";
import type { RowChange, ScreenRow } from "./row.ts";

/** A place in the live region: rows from its top, columns from the left. */
export type CellPosition = { readonly row: number; readonly column: number };

/** A place whose column need not be known. */
type CursorPosition = { readonly row: number; readonly column: number | undefined };

/** Writes changes at their places, moving as little as possible. Knows where it stands and in which style. */
export class CursorWriter {
  readonly #paint: SgrEncoder;
  #text = "";
  #row: number;
  /** Unknown after letters about whose width terminals differ. */
  #column: number | undefined;
  #style: Style = unstyled;
  #link: string | undefined;
  /** How many rows exist below the top; beyond them, rows are made by line feeds. */
  #rows: number;

  constructor(paint: SgrEncoder, { at, rows }: { readonly at: CursorPosition; readonly rows: number }) {
    this.#paint = paint;
    this.#row = at.row;
    this.#column = at.column;
    this.#rows = Math.max(rows, at.row + 1);
  }

  get text(): string {
    return this.#text;
  }

  move({ row, column }: CellPosition): void {
    const known = Math.min(row, this.#rows - 1);
    if (known < this.#row) this.#text += sequence(this.#row - known, "A");
    if (known > this.#row) this.#text += sequence(known - this.#row, "B");
    if (row > known) {
      this.#use(unstyled);
      this.#text += `\r${"\n".repeat(row - known)}`;
      this.#column = 0;
      this.#rows = row + 1;
    }
    this.#row = row;
    if (this.#column === column) return;
    this.#text += column === 0 ? "\r" : sequence(column + 1, "G");
    this.#column = column;
  }

  write({ cells, clear }: RowChange): void {
    if (clear === "before") this.#clear("K");
    for (const { text, style, columns, hasCertainWidth: isCertain } of cells) {
      this.#use(style);
      if (this.#column === undefined) this.#text += sequence(this.#expected + 1, "G");
      this.#text += text;
      this.#expected = (this.#column ?? this.#expected) + columns;
      this.#column = isCertain ? this.#expected : undefined;
    }
    if (clear === "after") this.#clear("K");
  }

  /**
   * Writes whole rows that are finished, and is then at the beginning of the row below them, which counts as the first.
   * Nothing that follows depends on how many rows they took: where the terminal is narrower than anybody knows yet, it
   * breaks them itself.
   */
  print(rows: readonly ScreenRow[]): void {
    if (rows.length === 0) return;
    this.#text += "\u001b[?7h";
    for (const { cells } of rows) {
      this.write({ column: 0, cells, clear: "no" });
      this.#use(unstyled);
      this.#text += "\r\n";
      this.#column = 0;
    }
    this.#text += "\u001b[?7l";
    this.#row = 0;
    this.#rows = 1;
  }

  /** Writes a picture here; wherever that leaves the cursor, it comes back. */
  writeImage(picture: string): void {
    this.#use(unstyled);
    this.#text += `\u001b7${picture}\u001b8`;
  }

  /** Erases this row from here, and all below. */
  clearBelow(): void {
    this.#clear("J");
  }

  /** Leaves everything in the terminal's own style. */
  resetStyle(): void {
    this.#use(unstyled);
  }

  /** Where the pen should stand after letters that took we do not know how many columns. */
  #expected = 0;

  #clear(kind: "K" | "J"): void {
    this.#use(unstyled);
    this.#text += `\u001b[${kind}`;
  }

  #use(style: Style): void {
    if (!sameStyle(style, this.#style)) this.#text += this.#paint.codes(style);
    if (style.link !== this.#link) this.#text += this.#paint.link(style.link);
    this.#style = style;
    this.#link = style.link;
  }
}

const sequence = (count: number, letter: string): string => `\u001b[${count === 1 ? "" : count}${letter}`;
