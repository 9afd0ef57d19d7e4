import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { anyReader, inlineOnly, imageTypes } from "../traits.ts";

const acceptedMedia = { image: inlineOnly(imageTypes) };

/**
 * DeepSeek. In thinking mode every earlier turn with tools must include its reasoning; text models accept text only.
 */
export const deepseek: Provider = defineChatProvider({
  id: "deepseek",
  label: "DeepSeek",
  endpoint: {
    url: "https://api.deepseek.com",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "DEEPSEEK_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["DEEPSEEK_API_KEY"] },
  defaultModel: "deepseek-v4-flash",
  traits: { thinking: { form: "plain", readers: anyReader, bound: false, backfill: { text: " ", on: "all" } } },
  dialect: {
    reasoning: "reasoning_content",
    textLists: false,
    toolChoice: ["auto", "none"],
    thinking: { field: "thinking" },
  },
  families: [
    {
      match: /vision/,
      traits: { media: { result: acceptedMedia, errorResult: acceptedMedia, user: acceptedMedia } },
      dialect: { textLists: true },
    },
    {
      // The models before V4 refuse the reasoning of earlier turns.
      match: /deepseek-(chat|coder|v3|r1)/,
      traits: { thinking: { form: "none", backfill: undefined } },
      dialect: { reasoning: "none", thinking: { field: "none" }, toolChoice: ["auto", "none", "required", "named"] },
    },
  ],
});
