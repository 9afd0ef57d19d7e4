import { splitModelName } from "../../../../agent/models/name.ts";
import type { Entry } from "../../../../conversation/entry.ts";
import { computeCost, findModelFacts, type Price } from "../../../../providers/models.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import type { RequestUsage } from "../../session/chat-session.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { escapeCell, formatDollars, formatTokenCount, pluralize } from "./format.ts";

/** `/stats`: shows the usage of this session. */
export const showStats = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent, session } = at.opened();
  const { requests, input, cachedRead, output, cost, unpriced } = agent.usageTotals();
  const cached = input === 0 ? 0 : Math.round((100 * cachedRead) / input);
  const { entries } = await openSessionStore(at.world, { home: at.home.data }).read(session.id);
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

/** `/cost`: shows the money spent since the session was opened, by model, and for the last requests. */
export const showCost = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { models: described } = at.loaded().settings;
  const requests = at.requests().map((request) => priceRequest(request, described));
  if (requests.length === 0)
    return at.info("No requests since the session was opened. See /stats for tools and tokens.");
  const models = [...new Set(requests.map(({ model }) => model))];
  const rows = models.map((model) => {
    const all = requests.filter((each) => each.model === model);
    return [escapeCell(model), String(all.length), formatTotal(all), formatDollarsOrUnknown(all)];
  });
  await at.printMarkdown(
    [
      `${formatDollarsOrUnknown(requests)} for ${pluralize(requests.length, "request")} since the session was opened.`,
      "",
      "| model | requests | tokens in, cached, out | cost |",
      "| --- | ---: | ---: | ---: |",
      ...rows.map((row) => `| ${row.join(" | ")} |`),
      "",
      `Last requests: ${requests
        .slice(-lastRequests)
        .map(({ cost }) => (cost === undefined ? "unknown" : formatDollars(cost)))
        .join(", ")}`,
    ].join("\n"),
  );
};

/** Requests whose cost is shown one by one. */
const lastRequests = 5;

type PricedRequest = RequestUsage & { readonly cost: number | undefined };

/** Prices a request: by what settings say about its model, else by the published price. */
const priceRequest = (
  request: RequestUsage,
  described: { readonly [name: string]: { readonly price?: Price } },
): PricedRequest => {
  const price = described[request.model]?.price ?? findModelFacts(...splitModelName(request.model)).price;
  return { ...request, cost: price === undefined ? undefined : computeCost({ price }, request.usage) };
};

const formatTotal = (requests: readonly RequestUsage[]): string => {
  const sum = (pick: (usage: RequestUsage["usage"]) => number): string =>
    formatTokenCount(requests.reduce((total, { usage }) => total + pick(usage), 0));
  return [sum(({ input }) => input), sum(({ cachedRead }) => cachedRead), sum(({ output }) => output)].join(", ");
};

/** The sum, with the number of requests whose price is unknown. */
const formatDollarsOrUnknown = (requests: readonly PricedRequest[]): string => {
  const unknown = requests.filter(({ cost }) => cost === undefined).length;
  if (unknown === requests.length) return "Price unknown";
  const total = formatDollars(requests.reduce((sum, { cost }) => sum + (cost ?? 0), 0));
  return unknown === 0 ? total : `${total} and ${pluralize(unknown, "request")} without a known price`;
};
