import { line, span } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/agents`: lists subagents. */
export const listAgents = (_: string, { opened, print, info, width }: SlashCommandContext): void => {
  const named = opened().agents;
  if (named.length === 0)
    return info(
      "No agents are described here. A Markdown file in .parley/agents, with a name and a description at its head, describes one.",
    );
  print([
    ...named.flatMap(({ name, description, model = "the model of the conversation", tools }) => [
      [
        span(name, { bold: true }),
        span(`  ${model}${tools === undefined ? "" : `, with ${tools.join(", ")}`}`, { tone: "muted" }),
      ],
      ...wrap(line(description), { width: width(), first: [span("  ")], rest: [span("  ")] }),
    ]),
    [],
  ]);
};
