/*
 * Uses a server Parley does not know: its API is that of Chat Completions, as
 * with most gateways and local servers. A simulator plays the server here.
 */
import { defineChatProvider, realWorld } from "parley-agent";
import { openAgent } from "parley-agent/agent";
import { createSimulator, serve } from "parley-agent/sim";

const { url, close: stop } = await serve(
  createSimulator({ provider: "local", script: { rules: [], otherwise: { say: "Hello from Acme." } } }),
);

const acme = defineChatProvider({
  id: "acme",
  label: "Acme",
  endpoint: { url: `${url}/v1` },
  // The variable with the key; { type: "none" } for a server without keys.
  auth: { type: "bearer", env: ["ACME_KEY"] },
  defaultModel: "qwen3",
  // Where it differs from the defaults: media it takes, fields it calls by other names.
  dialect: { maxTokens: "max_completion_tokens" },
});

const { ask, close } = await openAgent({
  folder: ".",
  model: { provider: acme, model: "qwen3" },
  // The environment is a parameter too; leave `world` out to use the real one.
  world: realWorld({ ...process.env, ACME_KEY: "secret" }),
});
console.log((await ask("Hello!")).text);
await close();
await stop();
