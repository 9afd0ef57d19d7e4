import { line, span } from "../text/line.ts";
import type { SlashCommand } from "./command.ts";

/** Every command, in the order of the help. */
export const commands: readonly SlashCommand[] = [
  {
    name: "help",
    about: "what can be typed",
    run: (_, { print, commands: all }) =>
      print([
        ...all().map(({ name, usage, about }) => [
          span(`/${name}${usage === undefined ? "" : ` ${usage}`}`.padEnd(24), { tone: "accent" }),
          span(about),
        ]),
        line(
          "@path attaches a file, !command runs a line in the shell, Ctrl-R searches what was typed, Ctrl-O shows thoughts.",
        ),
        [],
      ]),
  },
  { name: "quit", about: "leave; the session can be gone on with", run: (_, { leave }) => leave() },
];
