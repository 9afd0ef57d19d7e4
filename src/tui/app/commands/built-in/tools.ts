import { sanitizeForTerminal } from "../../../../policy/terminal/sanitize.ts";
import { span, toLines, truncate } from "../../../text/line.ts";
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

/** `/plugins`: shows the output of `parley plugins list`. */
export const showPlugins = async (_: string, { parley, print }: SlashCommandContext): Promise<void> =>
  print([...toLines(sanitizeForTerminal((await parley(["plugins", "list"])).trimEnd())), []]);
