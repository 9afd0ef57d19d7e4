import type { SideQueryModel } from "../../tools/capabilities.ts";
import type { World } from "../../world/world.ts";
import type { GroundedSearch } from "../../transport/queries/grounding.ts";
import type { SideQueryResult } from "./side-query.ts";

/** The models tools may ask: the one of the conversation, and Google's with its own tools where there is a key or a sign-in. */
export const createModelCapability = (
  world: World,
  session: string,
  ask: (prompt: string, signal: AbortSignal) => Promise<SideQueryResult>,
): Required<SideQueryModel> => {
  let grounding: GroundedSearch | undefined;
  return {
    ask: async (prompt, signal) => (await ask(prompt, signal)).text,
    google: async (prompt, tool, signal) => {
      const { createGroundedSearch } = await import("../../transport/queries/grounding.ts");
      grounding ??= createGroundedSearch(world, session);
      return grounding({ prompt, tool }, signal);
    },
  };
};
