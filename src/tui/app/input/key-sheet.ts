import { keyActions } from "../../keys/actions.ts";
import { keyLabelsOf, type KeyRemap } from "../../keys/key-file.ts";
import { lineWidth, padLine, span, truncate } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";

/** The rows of the sheet: signs at the start of a message, then keys. */
const sheetRows = (remap: KeyRemap | undefined): readonly (readonly [keys: string, action: string])[] => [
  ["/", "command"],
  ["@", "attach a file or folder"],
  ["!", "shell command"],
  ["#", "add to memory"],
  ...keyActions.flatMap((action) => {
    const [key = "none"] = keyLabelsOf(action, remap);
    return action.sheet === undefined ? [] : [[key, action.sheet] as const];
  }),
  ["/help", "all commands"],
];

/** Columns between two columns of the sheet. */
const gap = 2;

/** Shows the key sheet, with the user's own keys, in as many columns as fit, read downwards. */
export const viewKeySheet = (width: number, remap?: KeyRemap): readonly StyledLine[] => {
  const keySheet = sheetRows(remap);
  const keyWidth = Math.max(...keySheet.map(([keys]) => keys.length)) + 2;
  const cells = keySheet.map(([keys, action]): StyledLine => [
    span(keys.padEnd(keyWidth), { tone: "accent" }),
    span(action, { tone: "muted" }),
  ]);
  const cellWidth = Math.max(...cells.map(lineWidth)) + gap;
  const columns = Math.max(1, Math.min(3, Math.floor((width - 2 + gap) / cellWidth)));
  const rows = Math.ceil(cells.length / columns);
  return Array.from({ length: rows }, (_, row) =>
    truncate(
      [
        span("  "),
        ...Array.from({ length: columns }, (_, column) => cells[column * rows + row] ?? []).flatMap((cell, column) =>
          column === columns - 1 ? cell : padLine(cell, cellWidth),
        ),
      ],
      width,
    ),
  );
};
