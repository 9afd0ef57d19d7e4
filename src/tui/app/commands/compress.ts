import type { Desk } from "../command.ts";

/** `/compress`: makes room in the context now. */
export const compress = async (_: string, at: Desk): Promise<void> => {
  const { agent } = at.opened();
  const before = (await agent.context()).used;
  at.say("Making room…");
  const isSmaller = await agent.compact();
  const { used } = await agent.context();
  at.say(isSmaller ? `From about ${before} to ${used} tokens.` : "There is nothing to gain.");
};
