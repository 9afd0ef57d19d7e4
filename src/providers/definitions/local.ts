import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { inlineOnly, chatIdFamilies, textOnly } from "../traits.ts";

const visionModels = /llava|vision|-vl|vl:|\bvl\b|gemma-?[34]|pixtral|minicpm-v|llama-?4|moondream/i;

/**
 * Servers on the local machine: Ollama, llama.cpp, vLLM, LM Studio. Images as inline bytes only, results as text only.
 */
export const local: Provider = defineChatProvider({
  id: "local",
  label: "Local (Ollama, llama.cpp, vLLM, LM Studio)",
  endpoint: {
    url: "http://127.0.0.1:11434/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [
      { name: "OLLAMA_BASE_URL", suffix: "/v1" },
      { name: "OLLAMA_HOST", suffix: "/v1", bare: "http://127.0.0.1:11434" },
    ],
  },
  auth: { type: "bearer", env: ["PARLEY_LOCAL_API_KEY"], optional: true },
  defaultModel: "qwen3",
  traits: { mediaUnknown: true },
  dialect: { emptyContent: "empty", toolChoice: ["auto"], ends: "finish" },
  families: [
    {
      match: visionModels,
      traits: { media: { ...textOnly, user: { image: inlineOnly(["image/png", "image/jpeg", "image/webp"]) } } },
    },
    // Self-hosted Mistral truncates ids to nine characters and needs an assistant message between results and the user.
    {
      match: /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral/i,
      traits: { order: { bridgeAfterResults: true } },
      dialect: { resultNames: true },
    },
    ...chatIdFamilies,
  ],
});
