import type { AskModel } from "../tools/capabilities.ts";
import type { World } from "../world/index.ts";
import type { Aside } from "./aside.ts";

/** The models tools may ask: the one of the conversation, and Google's with its own tools where there is a key. */
export const modelsToAsk = (world: World, ask: (prompt: string, signal: AbortSignal) => Promise<Aside>): AskModel => ({
  ask: async (prompt, signal) => (await ask(prompt, signal)).text,
  google: async (prompt, tool, signal) => {
    const { askGrounded, findGrounding } = await import("../transport/grounding.ts");
    const google = await findGrounding(world);
    return google && askGrounded(google, { prompt, tool }, world, signal);
  },
});
