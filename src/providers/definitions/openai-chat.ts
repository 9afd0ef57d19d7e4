import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { anyOrder, inlineOnly, inlineOrUrl, pdfTypes, imageTypes, schemaModels, textOnly } from "../traits.ts";

const image = inlineOrUrl(imageTypes, { maxBytes: 15_000_000, perRequest: 500 });
const document = inlineOnly(pdfTypes, { uri: ["openai-file:"], maxBytes: 32_000_000 });
const efforts = { low: "low", medium: "medium", high: "high" };

/** Models whose reasoning can be turned off. */
const optionalReasoning = /^gpt-5\.[1-9](-mini|-nano|-luna|-sol|-terra)?(-20\d\d|$)/;

/** OpenAI's older API. Tool messages contain text only; audio is for audio models. */
export const openaiChat: Provider = defineChatProvider({
  id: "openai-chat",
  telemetryName: "openai",
  label: "OpenAI (Chat Completions)",
  endpoint: {
    url: "https://api.openai.com/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "OPENAI_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["OPENAI_API_KEY"] },
  defaultModel: "gpt-5.6",
  traits: { media: { ...textOnly, user: { image: image, document: document } }, order: anyOrder },
  dialect: { maxTokens: "max_completion_tokens", strict: true, cacheKey: true, serverTools: false },
  families: [
    {
      match: /^(gpt-5|gpt-[6-9]|o\d)/,
      dialect: { system: "developer", thinking: { field: "reasoning_effort", efforts }, sampling: false },
    },
    {
      match: optionalReasoning,
      dialect: { thinking: { field: "reasoning_effort", efforts: { none: "none", ...efforts } } },
    },
    // From GPT-5.4 on, tools and reasoning are combined only in Responses; from 5.5 on, reasoning must be turned off here.
    { match: /^gpt-5\.4/, dialect: { effortWithTools: "absent" } },
    { match: /^gpt-(5\.([5-9]|\d\d)|[6-9])/, dialect: { effortWithTools: "none" } },
    { match: /^gpt-5(\.\d+)?-pro/, dialect: { thinking: { field: "reasoning_effort", efforts: { high: "high" } } } },
    {
      match: /^gpt-5\.\d+-chat/,
      dialect: { thinking: { field: "reasoning_effort", efforts: { medium: "medium" } }, effortWithTools: "any" },
    },
    { match: /^gpt-5-chat/, dialect: { thinking: { field: "none" } } },
    { match: /^o[13]-mini|^o1-preview|^gpt-3/, traits: { media: textOnly } },
    { match: schemaModels, dialect: { output: true } },
    { match: /^o1-(mini|preview)/, dialect: { system: "user", thinking: { field: "none" } } },
    { match: /audio/, traits: { media: { user: { audio: inlineOnly(["audio/wav", "audio/mp3", "audio/mpeg"]) } } } },
  ],
});
