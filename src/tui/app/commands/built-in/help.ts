import { keyActions } from "../../../keys/actions.ts";
import { keyLabelsOf, type KeyRemap } from "../../../keys/key-file.ts";
import { line, span } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** Signs at the start of a message, then the keys of the key sheet; backquotes are Markdown of the documents. */
const keyHelp = (remap: KeyRemap | undefined): readonly (readonly [string, string])[] => [
  ["@path, @server:uri", "Attach a file, folder or MCP resource"],
  ["!command", "Run a shell command (its output is added to your next message)"],
  ["#text", "Add a line to memory (asks which file)"],
  ...keyActions
    .filter(({ sheet }) => sheet !== undefined)
    .map((action) => [keyLabelsOf(action, remap)[0] ?? "no key", action.about.replaceAll("`", "")] as const),
];

/** `/help`: lists commands and keys. */
export const showHelp = (_: string, { print, commands, width, keyRemap }: SlashCommandContext): void => {
  const rows = [
    ...commands().map(({ name, usage = "", description }) => [`/${name} ${usage}`.trim(), description] as const),
    ...keyHelp(keyRemap()),
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
