import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { chatIdFamilies, inlineOrUrl, imageTypes, textOnly } from "../traits.ts";

/** Alibaba's Qwen. Reasoning in the history is ignored, so none is sent. */
export const qwen: Provider = defineChatProvider({
  id: "qwen",
  label: "Alibaba Qwen (DashScope)",
  endpoint: {
    url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "DASHSCOPE_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["DASHSCOPE_API_KEY"] },
  defaultModel: "qwen3-max",
  traits: { media: { ...textOnly, user: { image: inlineOrUrl(imageTypes, { maxBytes: 7_000_000 }) } } },
  dialect: {
    emptyContent: "empty",
    toolChoice: ["auto", "none", "named"],
    thinking: { field: "enable_thinking" },
    cacheMarks: true,
  },
  families: [
    ...chatIdFamilies,
    { match: /^(qwen3?(\.\d)?-(max|turbo|coder|next|\d+b)|qwq)/, traits: { media: textOnly } },
  ],
});
