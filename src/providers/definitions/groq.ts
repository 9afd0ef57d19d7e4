import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { anyReader, chatIdFamilies, inlineOrUrl, imageTypes, textOnly } from "../traits.ts";

/** Groq. Reasoning is sent back as `reasoning`; `reasoning_content` is refused. */
export const groq: Provider = defineChatProvider({
  id: "groq",
  label: "Groq",
  endpoint: {
    url: "https://api.groq.com/openai/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "GROQ_BASE_URL", suffix: "/openai/v1" }],
  },
  auth: { type: "bearer", env: ["GROQ_API_KEY"] },
  defaultModel: "openai/gpt-oss-120b",
  traits: {
    media: { ...textOnly, user: { image: inlineOrUrl(imageTypes, { maxBytes: 3_000_000 }) } },
    thinking: { form: "plain", readers: anyReader, bound: false },
  },
  dialect: {
    reasoning: "reasoning",
    emptyContent: "omitted",
    maxTokens: "max_completion_tokens",
    streamOptions: false,
  },
  families: [
    ...chatIdFamilies,
    { match: /gpt-oss|llama-?3|kimi-k2|qwen3|gemma|mixtral|deepseek|compound/i, traits: { media: textOnly } },
    {
      match: /gpt-oss/,
      dialect: { thinking: { field: "reasoning_effort", efforts: { low: "low", medium: "medium", high: "high" } } },
    },
  ],
});
