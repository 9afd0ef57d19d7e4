import { truncate, span } from "../../../text/line.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/tools`: lists the tool definitions to the model. */
export const listTools = (_: string, { opened, print, width }: SlashCommandContext): void => {
  const offered = opened().agent.conversation().tools ?? [];
  print([
    ...offered.map(({ name, description = "" }) =>
      truncate([span(name.padEnd(24), { tone: "accent" }), span(description.split("\n")[0] ?? "")], width()),
    ),
    [],
  ]);
};
