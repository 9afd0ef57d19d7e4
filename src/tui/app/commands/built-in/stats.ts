import type { Entry } from "../../../../conversation/entry.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { escapeCell, formatDollars, formatTokenCount } from "./format.ts";

/** `/stats`: shows the usage of this session. */
export const showStats = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent, session } = at.opened();
  const { requests, input, cachedRead, output, cost, unpriced } = agent.usageTotals();
  const cached = input === 0 ? 0 : Math.round((100 * cachedRead) / input);
  const { entries } = await openSessionStore(at.world, { home: at.home }).read(session.id);
  const tools = tallyTools(entries);
  await at.printMarkdown(
    [
      `Session ${session.id}, since it was opened:`,
      "",
      `- ${requests} requests, ${formatTokenCount(input)} tokens in (${cached}% cached), ${formatTokenCount(output)} out`,
      `- ${formatDollars(cost)}${unpriced === 0 ? "" : `, and ${unpriced} responses without a known price`}`,
      "",
      ...(tools.length === 0
        ? []
        : [
            "| tool | calls | failed |",
            "| --- | ---: | ---: |",
            ...tools.map(([name, { all, failed }]) => `| ${escapeCell(name)} | ${all} | ${failed} |`),
          ]),
    ].join("\n"),
  );
};

type ToolTally = { readonly all: number; readonly failed: number };

const tallyTools = (entries: readonly Entry[]): readonly (readonly [string, ToolTally])[] => {
  const tallies = new Map<string, ToolTally>();
  for (const entry of entries) {
    if (entry.type !== "completion") continue;
    const { all, failed } = tallies.get(entry.tool) ?? { all: 0, failed: 0 };
    tallies.set(entry.tool, { all: all + 1, failed: failed + (entry.outcome.status === "complete" ? 0 : 1) });
  }
  return [...tallies].toSorted(([, one], [, other]) => other.all - one.all);
};
