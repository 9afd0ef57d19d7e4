import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { chatIdFamilies, inlineOrUrl, pdfTypes, imageTypes } from "../traits.ts";

const all = {
  image: inlineOrUrl(imageTypes, { maxBytes: 15_000_000, perRequest: 40 }),
  document: inlineOrUrl(pdfTypes, { maxBytes: 15_000_000 }),
  audio: { types: ["audio/wav", "audio/mp3", "audio/mpeg"], maxBytes: 15_000_000 },
  video: inlineOrUrl(["video/mp4", "video/mpeg", "video/quicktime", "video/webm"], { maxBytes: 15_000_000 }),
};

/** OpenRouter accepts every kind of media in tool messages and converts it for the upstream. */
export const openrouter: Provider = defineChatProvider({
  id: "openrouter",
  label: "OpenRouter",
  endpoint: {
    url: "https://openrouter.ai/api/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "OPENROUTER_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["OPENROUTER_API_KEY"] },
  defaultModel: "anthropic/claude-sonnet-5",
  traits: {
    media: { result: all, errorResult: all, user: all, model: {} },
    thinking: { form: "signed", readers: [], bound: false },
    requiresTools: true,
  },
  dialect: {
    reasoning: "reasoning_details",
    cacheMarks: true,
    cacheKey: true,
    thinking: { field: "reasoning", efforts: { low: "low", medium: "medium", high: "high" }, budgets: true },
  },
  families: [
    ...chatIdFamilies,
    // Served over OpenAI's Responses, whose limit counts.
    { match: /^openai\/(?!gpt-oss)/, dialect: { leastTokens: 16 } },
    // As at Anthropic itself: thinking becomes invalid once anything before it has changed.
    { match: /^anthropic\/claude-[a-z]+-(5\.[1-9]|[6-9])/, traits: { thinking: { bound: true } } },
  ],
});
