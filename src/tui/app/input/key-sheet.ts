import { lineWidth, padLine, span, truncate } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";

/** Keys and what they do, as `?` shows them. */
const keySheet: readonly (readonly [keys: string, action: string])[] = [
  ["/", "command"],
  ["@", "attach a file or folder"],
  ["!", "shell command"],
  ["#", "add to memory"],
  ["Enter", "send; during work, queue"],
  ["Tab", "queue until the turn ends"],
  ["Shift-Enter", "new line (also Ctrl-J)"],
  ["Esc", "cancel; twice rewinds"],
  ["Ctrl-C", "cancel; twice quits"],
  ["Shift-Tab", "next approval mode"],
  ["Up, Down", "input history"],
  ["Ctrl-R", "search the history"],
  ["Ctrl-O", "expand collapsed output"],
  ["Alt-T", "show all thinking"],
  ["Ctrl-V", "paste an image"],
  ["Ctrl-X", "edit in your editor"],
  ["Ctrl-Z", "suspend"],
  ["/help", "all commands and keys"],
];

/** Columns between two columns of the sheet. */
const gap = 2;

/** Shows the key sheet in as many columns as fit, read downwards. */
export const viewKeySheet = (width: number): readonly StyledLine[] => {
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
