import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { anyReader, kimiIds, textOnly } from "../traits.ts";

const acceptedMedia = {
  image: { types: ["image/png", "image/jpeg", "image/gif", "image/webp"], uri: ["ms://"] },
  video: { types: ["video/mp4", "video/mpeg", "video/quicktime", "video/webm"], uri: ["ms://"] },
};

/** Moonshot's Kimi. Thinking models refuse a call without reasoning, even one that another model made. */
export const kimi: Provider = defineChatProvider({
  id: "kimi",
  telemetryName: "moonshot_ai",
  label: "Moonshot Kimi",
  endpoint: {
    url: "https://api.moonshot.ai/v1",
    paths: { generate: "/chat/completions", count: "/tokenizers/estimate-token-count", models: "/models" },
    env: [{ name: "MOONSHOT_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["MOONSHOT_API_KEY", "KIMI_API_KEY"] },
  defaultModel: "kimi-k3",
  traits: {
    ids: kimiIds,
    media: { result: acceptedMedia, errorResult: acceptedMedia, user: acceptedMedia, model: {} },
    thinking: { form: "plain", readers: anyReader, bound: false, backfill: { text: " ", on: "calls" } },
  },
  dialect: {
    reasoning: "reasoning_content",
    emptyContent: "omitted",
    schema: "kimi",
    toolChoice: ["auto", "none"],
    cacheKey: true,
  },
  families: [
    {
      match: /^kimi-k2(-\d{4}|-turbo|-preview|$)|moonshot-v1(?!.*vision)/,
      traits: { media: textOnly },
      dialect: { textLists: false },
    },
    {
      match: /^kimi-k2(-\d{4}|-turbo|-preview|$)|moonshot-v1/,
      traits: { thinking: { form: "none", backfill: undefined } },
      dialect: { reasoning: "none" },
    },
  ],
});
