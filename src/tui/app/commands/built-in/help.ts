import { line, span } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

const keyHelp: readonly (readonly [string, string])[] = [
  ["@path, @server:uri", "Attach a file, folder or MCP resource"],
  ["!command", "Run a shell command (its output is added to your next message)"],
  ["#text", "Add a line to memory (asks which file)"],
  ["Enter, Shift-Enter", "Send; new line (also \\ and Enter, or Ctrl-J)"],
  ["Tab, Up", "During work: queue until the turn ends; take a queued message back"],
  ["Esc, Ctrl-C", "Cancel; press Ctrl-C twice to quit, Esc twice to rewind"],
  ["Ctrl-R", "Search the input history"],
  ["Ctrl-B", "Move a running command or subagent to the background (/tasks)"],
  ["Ctrl-O", "Expand pasted blocks, or collapsed output of the last turn"],
  ["Alt-T", "Show all thinking, or its topic (setting ui.thinking)"],
  ["Ctrl-X", "Edit the message in your editor"],
  ["Ctrl-V", "Attach the clipboard image"],
  ["Shift-Tab", "Next approval mode"],
  ["Alt-M", "Next favourite model (setting favourites)"],
];

/** `/help`: lists commands and keys. */
export const showHelp = (_: string, { print, commands, width }: SlashCommandContext): void => {
  const rows = [
    ...commands().map(({ name, usage = "", description }) => [`/${name} ${usage}`.trim(), description] as const),
    ...keyHelp,
  ];
  const column = Math.min(26, Math.floor(width() / 2));
  print([
    ...rows.flatMap(([what, about]) =>
      what.length < column
        ? wrap([span(what.padEnd(column), { tone: "accent" }), span(about)], {
            width: width(),
            rest: [span(" ".repeat(column))],
          })
        : [
            line(what, { tone: "accent" }),
            ...wrap(line(about), { width: width(), first: [span("    ")], rest: [span("    ")] }),
          ],
    ),
    [],
  ]);
};
