import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { inlineOrUrl, imageTypes, textOnly } from "../traits.ts";

/** Cohere, through its compatibility endpoint. */
export const cohere: Provider = defineChatProvider({
  id: "cohere",
  label: "Cohere",
  endpoint: {
    url: "https://api.cohere.ai/compatibility/v1",
    paths: { generate: "/chat/completions", models: "https://api.cohere.com/v1/models" },
    env: [{ name: "COHERE_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["COHERE_API_KEY", "CO_API_KEY"] },
  defaultModel: "command-a-03-2025",
  traits: { media: { ...textOnly, user: { image: inlineOrUrl(imageTypes) } } },
  dialect: { toolChoice: ["auto", "none", "required"], ends: "finish" },
  families: [{ match: /^command-(?!.*vision)/, traits: { media: textOnly } }],
});
