import type { SlashCommandContext } from "../slash-command.ts";

/** `/compress`: compacts the context now. */
export const compactContext = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const before = (await agent.contextUsage()).used;
  at.info("Compacting…");
  const isSmaller = await agent.compact();
  const { used } = await agent.contextUsage();
  at.info(isSmaller ? `Compacted from about ${before} to ${used} tokens.` : "Nothing to compact.");
};
