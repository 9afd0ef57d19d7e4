import type { SlashCommandContext } from "../slash-command.ts";

/** `/compress`: compacts the context now. */
export const compactContext = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const before = (await agent.contextUsage()).used;
  at.info("Making room…");
  const isSmaller = await agent.compact();
  const { used } = await agent.contextUsage();
  at.info(isSmaller ? `From about ${before} to ${used} tokens.` : "There is nothing to gain.");
};
