import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { anyReader, inlineOrUrl, imageTypes, textOnly } from "../traits.ts";

/** Z.ai's GLM. Its reasoning is sent back complete; tool choice is `auto` only. */
export const zai: Provider = defineChatProvider({
  id: "zai",
  label: "Z.ai GLM",
  endpoint: {
    url: "https://api.z.ai/api/paas/v4",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "ZAI_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["ZAI_API_KEY"] },
  defaultModel: "glm-5.2",
  traits: {
    media: { ...textOnly, user: { image: inlineOrUrl(imageTypes, { maxBytes: 5_000_000 }) } },
    thinking: { form: "plain", readers: anyReader, bound: false },
  },
  dialect: {
    reasoning: "reasoning_content",
    emptyContent: "empty",
    streamOptions: false,
    toolChoice: ["auto"],
    thinking: { field: "thinking" },
  },
  // Models with a v in their version accept images; the others text only.
  families: [{ match: /^glm-[\d.]+(?!\d*v)(-|$)/, traits: { media: textOnly } }],
});
