import { sanitizeForTerminal } from "../../../../policy/terminal/sanitize.ts";
import { line, span, toLines, truncate } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
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

/** `/agents`: lists subagents. */
export const listAgents = (_: string, { opened, print, info, width }: SlashCommandContext): void => {
  const named = opened().agents;
  if (named.length === 0)
    return info(
      "No subagents found. Define one in a Markdown file in .parley/agents, with name and description in its front matter.",
    );
  print([
    ...named.flatMap(({ name, description, model = "the current model", tools }) => [
      [
        span(name, { bold: true }),
        span(`  ${model}${tools === undefined ? "" : `, with ${tools.join(", ")}`}`, { tone: "muted" }),
      ],
      ...wrap(line(description), { width: width(), first: [span("  ")], rest: [span("  ")] }),
    ]),
    [],
  ]);
};

/** `/plugins`: shows the output of `parley plugins list`. */
export const showPlugins = async (_: string, { parley, print }: SlashCommandContext): Promise<void> =>
  print([...toLines(sanitizeForTerminal((await parley(["plugins", "list"])).trimEnd())), []]);
