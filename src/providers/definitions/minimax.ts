import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { inlineOrUrl, imageTypes, textOnly } from "../traits.ts";

/** MiniMax. Reasoning of earlier turns is sent back unchanged. */
export const minimax: Provider = defineChatProvider({
  id: "minimax",
  label: "MiniMax",
  endpoint: {
    url: "https://api.minimax.io/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "MINIMAX_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["MINIMAX_API_KEY"] },
  defaultModel: "MiniMax-M2.5",
  traits: {
    media: { ...textOnly, user: { image: inlineOrUrl(imageTypes) } },
    thinking: { form: "signed", readers: [], bound: false },
  },
  dialect: {
    reasoning: "reasoning_details",
    emptyContent: "empty",
    maxTokens: "max_completion_tokens",
    extraFields: { reasoning_split: true },
    ends: "finish",
    // Its documentation shows cumulative chunks; live responses have deltas. Both are decoded.
    repeatsText: true,
  },
  families: [{ match: /-M[12]/, traits: { media: textOnly } }],
});
