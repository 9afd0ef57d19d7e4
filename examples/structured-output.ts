/*
 * Gets an answer as a typed value. APIs that can are held to the schema while
 * they write; every answer is validated, and requested again if it is wrong.
 */
import { realWorld } from "parley-agent";
import { openAgent } from "parley-agent/agent";
import { createSimulator, serve } from "parley-agent/sim";
import { z } from "zod";

// The simulated model answers with words first, and then with what was asked for.
const replies = [{ say: "It is 4 degrees in Oslo." }, { say: '{"city": "Oslo", "degrees": 4}' }];
const simulator = createSimulator({
  provider: "anthropic",
  script: ({ turns }) => ({ parts: [{ type: "say", text: replies[turns.length > 1 ? 1 : 0]!.say }] }),
});
const { url, close: stop } = await serve(simulator);

const { ask, close } = await openAgent({
  folder: ".",
  model: "anthropic",
  output: z.object({ city: z.string(), degrees: z.int() }),
  onEvent: (event) => {
    if (event.type === "notice") console.log(event.text);
  },
  world: realWorld({ ...process.env, ANTHROPIC_API_KEY: "secret", PARLEY_ANTHROPIC_BASE_URL: url }),
});
const { output } = await ask("How cold is it in Oslo?");
// The type of `output` is that of the schema.
console.log(`${output.city}: ${output.degrees + 273.15} K`);
await close();
await stop();
