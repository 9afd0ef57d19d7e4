import type { SlashCommandContext } from "../slash-command.ts";

/** `/compact`: compacts the context now. The words after it say what the summary should keep in detail. */
export const compactContext = async (focus: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const before = (await agent.contextUsage()).used;
  const { requests } = agent.usageTotals();
  const isSmaller = await at.runWork({ label: "Compacting" }, (signal) => agent.compact(focus, signal));
  const { used } = await agent.contextUsage();
  const isPaid = agent.usageTotals().requests > requests;
  at.info(
    isSmaller
      ? `Compacted from about ${before} to ${used} tokens.`
      : isPaid
        ? "The summary was not shorter than what it would replace. The conversation is unchanged."
        : "Nothing to compact.",
  );
};
