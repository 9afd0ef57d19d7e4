import type { Entry } from "../../../conversation/entry.ts";
import { openSessions } from "../../../session/store.ts";
import type { Desk } from "../command.ts";
import { cell, dollars, tokenCount } from "./words.ts";

/** `/stats`: what this session used. */
export const stats = async (_: string, at: Desk): Promise<void> => {
  const { agent, session } = at.opened();
  const { requests, input, cachedRead, output, cost, unpriced } = agent.spent();
  const cached = input === 0 ? 0 : Math.round((100 * cachedRead) / input);
  const { entries } = await openSessions(at.world, { home: at.home }).read(session.id);
  const tools = toolsIn(entries);
  await at.show(
    [
      `Session ${session.id}, since it was opened:`,
      "",
      `- ${requests} requests, ${tokenCount(input)} tokens in (${cached}% from caches), ${tokenCount(output)} out`,
      `- ${dollars(cost)}${unpriced === 0 ? "" : `, and ${unpriced} answers whose price nobody published`}`,
      "",
      ...(tools.length === 0
        ? []
        : [
            "| tool | calls | failed |",
            "| --- | ---: | ---: |",
            ...tools.map(([name, { all, failed }]) => `| ${cell(name)} | ${all} | ${failed} |`),
          ]),
    ].join("\n"),
  );
};

type Tally = { readonly all: number; readonly failed: number };

const toolsIn = (entries: readonly Entry[]): readonly (readonly [string, Tally])[] => {
  const tallies = new Map<string, Tally>();
  for (const entry of entries) {
    if (entry.type !== "completion") continue;
    const { all, failed } = tallies.get(entry.tool) ?? { all: 0, failed: 0 };
    tallies.set(entry.tool, { all: all + 1, failed: failed + (entry.outcome.status === "complete" ? 0 : 1) });
  }
  return [...tallies].toSorted(([, one], [, other]) => other.all - one.all);
};
