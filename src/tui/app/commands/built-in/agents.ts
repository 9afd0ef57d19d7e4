import { line, span } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

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
