import { line, span } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

const keyHelp: readonly (readonly [string, string])[] = [
  ["@path, @server:uri", "attaches a file, a folder, or what an MCP server has"],
  ["!command", "runs a line in the shell; the model is told with your next message"],
  ["Enter, Shift-Enter", "sends, begins a new line (also \\ and Enter, or Ctrl-J)"],
  ["Esc, Ctrl-C", "ends what is under way; Ctrl-C twice leaves"],
  ["Ctrl-R", "searches what you typed before"],
  ["Ctrl-O", "shows in full what was folded last"],
  ["Ctrl-X", "writes the message in your own editor"],
  ["Ctrl-V", "attaches the picture on the clipboard"],
  ["Shift-Tab", "goes on to the next approval mode"],
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
