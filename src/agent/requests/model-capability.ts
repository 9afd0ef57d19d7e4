import type { SideQueryModel } from "../../tools/capabilities.ts";
import type { World } from "../../world/world.ts";
import type { GroundedSearch } from "../../transport/queries/grounding.ts";
import type { SideQueryResult } from "./side-query.ts";

/** The models tools can query: the one of the conversation, and Google's with its own search tools if there is a key or a sign-in. */
export const createModelCapability = (
  world: World,
  sessionId: string,
  query: (prompt: string, signal: AbortSignal) => Promise<SideQueryResult>,
): Required<SideQueryModel> => {
  let grounding: GroundedSearch | undefined;
  return {
    ask: async (prompt, signal) => (await query(prompt, signal)).text,
    google: async (prompt, tool, signal) => {
      const { createGroundedSearch } = await import("../../transport/queries/grounding.ts");
      grounding ??= createGroundedSearch(world, sessionId);
      return grounding({ prompt, tool }, signal);
    },
  };
};
