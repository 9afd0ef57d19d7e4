/*
 * Begins a conversation with one provider and continues it with another. Calls
 * and results are rendered anew for each. Simulators play both here.
 */
import { realWorld } from "parley-agent";
import { openAgent } from "parley-agent/agent";
import { createSimulator, serve } from "parley-agent/sim";

const script = {
  rules: [
    {
      prompt: "folder",
      replies: [{ call: { tool: "list_directory", input: { path: "." } } }, { say: "I listed it." }],
    },
    { prompt: "before", replies: [{ say: "You asked for the folder." }] },
  ],
};
const claude = createSimulator({ provider: "anthropic", script });
const gemini = createSimulator({ provider: "google", script });
const { url, close: stop } = await serve({ "/anthropic": claude, "/google": gemini });
const env = {
  ...process.env,
  ANTHROPIC_API_KEY: "secret",
  GEMINI_API_KEY: "secret",
  PARLEY_ANTHROPIC_BASE_URL: `${url}/anthropic`,
  PARLEY_GOOGLE_BASE_URL: `${url}/google`,
};

const { agent, ask, switchModel, close } = await openAgent({
  folder: ".",
  model: "anthropic",
  world: realWorld(env),
});
console.log((await ask("What is in this folder?")).text);
await switchModel("google");
console.log((await ask("What did I ask before?")).text);
for (const { kind } of agent.lastReport()?.notes ?? []) console.log(`note: ${kind}`);
await close();
await stop();

for (const { log } of [claude, gemini]) console.log(log.map(({ verdict }) => verdict).join(" "));
