import { chatProvider } from "./chat.ts";
import type { Provider } from "./define.ts";
import { anyReader, asBytes, pictures } from "./traits.ts";

const seen = { image: asBytes(pictures) };

/** DeepSeek. In thinking mode every earlier turn with tools must bring its reasoning; text models take words only. */
export const deepseek: Provider = chatProvider({
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
      traits: { media: { result: seen, errorResult: seen, user: seen } },
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
