import type { LiveView } from "../screen/screen.ts";
import { mergeSpans } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { graphemeWidth, graphemesOf } from "../text/width.ts";

/** Draws the cursor into the lines, for when the terminal's own is elsewhere. */
export const withDrawnCursor = ({ lines, cursor }: LiveView): LiveView =>
  cursor === undefined
    ? { lines }
    : { lines: lines.map((each, row) => (row === cursor.row ? inverseAt(each, cursor.column) : each)) };

const inverseAt = (spans: StyledLine, place: number): StyledLine => {
  let column = 0;
  const cells = spans.flatMap(({ text, style }) =>
    graphemesOf(text).map((grapheme) => {
      const isThere = column === place;
      column += graphemeWidth(grapheme);
      return { text: grapheme, style: isThere ? { ...style, inverse: true as const } : style };
    }),
  );
  if (place >= column) cells.push({ text: " ", style: { inverse: true } });
  return mergeSpans(cells);
};
