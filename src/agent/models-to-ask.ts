import type { AskModel } from "../tools/capabilities.ts";
import type { World } from "../world/world.ts";
import type { AskGrounded } from "../transport/grounding.ts";
import type { Aside } from "./aside.ts";

/** The models tools may ask: the one of the conversation, and Google's with its own tools where there is a key or a sign-in. */
export const modelsToAsk = (
  world: World,
  session: string,
  ask: (prompt: string, signal: AbortSignal) => Promise<Aside>,
): Required<AskModel> => {
  let grounding: AskGrounded | undefined;
  return {
    ask: async (prompt, signal) => (await ask(prompt, signal)).text,
    google: async (prompt, tool, signal) => {
      const { openGrounding } = await import("../transport/grounding.ts");
      grounding ??= openGrounding(world, session);
      return grounding({ prompt, tool }, signal);
    },
  };
};
