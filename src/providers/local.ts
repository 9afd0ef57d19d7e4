import { chatProvider } from "./chat.ts";
import type { Provider } from "./define.ts";
import { asBytes, chatIdFamilies, wordsOnly } from "./traits.ts";

const sees = /llava|vision|-vl|vl:|\bvl\b|gemma-?[34]|pixtral|minicpm-v|llama-?4|moondream/i;

/** Whatever runs on one's own machine: Ollama, llama.cpp, vLLM, LM Studio. Pictures only as bytes, results only as text. */
export const local: Provider = chatProvider({
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
  dialect: { silence: "empty", toolChoice: ["auto"], ends: "finish" },
  families: [
    {
      match: sees,
      traits: { media: { ...wordsOnly, user: { image: asBytes(["image/png", "image/jpeg", "image/webp"]) } } },
    },
    // Self-hosted Mistral cuts ids to nine characters and wants the model's word between results and the user.
    {
      match: /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral/i,
      traits: { order: { bridgeAfterResults: true } },
      dialect: { resultNames: true },
    },
    ...chatIdFamilies,
  ],
});
