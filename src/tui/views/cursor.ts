import type { Live } from "../screen/screen.ts";
import { joined } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { columnsOfGrapheme, graphemesOf } from "../text/width.ts";

/** The same lines with the cursor drawn among them, for while the terminal's own rests elsewhere. */
export const drawnCursor = ({ lines, cursor }: Live): Live =>
  cursor === undefined
    ? { lines }
    : { lines: lines.map((each, row) => (row === cursor.row ? inverseAt(each, cursor.column) : each)) };

const inverseAt = (spans: Line, place: number): Line => {
  let column = 0;
  const letters = spans.flatMap(({ text, style }) =>
    graphemesOf(text).map((letter) => {
      const isThere = column === place;
      column += columnsOfGrapheme(letter);
      return { text: letter, style: isThere ? { ...style, inverse: true as const } : style };
    }),
  );
  if (place >= column) letters.push({ text: " ", style: { inverse: true } });
  return joined(letters);
};
