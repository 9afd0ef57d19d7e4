/*
 * The registry in all.ts without the providers themselves, so that start-up loads one provider instead of all.
 * Written by scripts/lazy-providers.ts, which `npx tsx scripts/docs.ts` runs: change all.ts, not this.
 */
import type { LazyProvider } from "./define.ts";

/** Every provider, in order of preference. */
export const lazyProviders: readonly LazyProvider[] = [
  {
    id: "google",
    telemetryName: "gcp.gemini",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    load: async () => (await import("./definitions/google.ts")).google,
  },
  {
    id: "vertex",
    telemetryName: "gcp.vertex_ai",
    keys: [],
    load: async () => (await import("./definitions/google.ts")).vertex,
  },
  {
    id: "code-assist",
    telemetryName: "gcp.gen_ai",
    keys: [],
    load: async () => (await import("./definitions/google.ts")).codeAssist,
  },
  {
    id: "anthropic",
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    load: async () => (await import("./definitions/anthropic.ts")).anthropic,
  },
  {
    id: "bedrock",
    telemetryName: "aws.bedrock",
    keys: [],
    load: async () => (await import("./definitions/bedrock.ts")).bedrock,
  },
  { id: "openai", keys: ["OPENAI_API_KEY"], load: async () => (await import("./definitions/openai.ts")).openai },
  {
    id: "openai-chat",
    telemetryName: "openai",
    keys: ["OPENAI_API_KEY"],
    load: async () => (await import("./definitions/openai-chat.ts")).openaiChat,
  },
  {
    id: "xai",
    telemetryName: "x_ai",
    keys: ["XAI_API_KEY"],
    load: async () => (await import("./definitions/xai.ts")).xai,
  },
  { id: "groq", keys: ["GROQ_API_KEY"], load: async () => (await import("./definitions/groq.ts")).groq },
  {
    id: "openrouter",
    keys: ["OPENROUTER_API_KEY"],
    load: async () => (await import("./definitions/openrouter.ts")).openrouter,
  },
  {
    id: "kimi",
    telemetryName: "moonshot_ai",
    keys: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    load: async () => (await import("./definitions/kimi.ts")).kimi,
  },
  {
    id: "mistral",
    telemetryName: "mistral_ai",
    keys: ["MISTRAL_API_KEY"],
    load: async () => (await import("./definitions/mistral.ts")).mistral,
  },
  {
    id: "deepseek",
    keys: ["DEEPSEEK_API_KEY"],
    load: async () => (await import("./definitions/deepseek.ts")).deepseek,
  },
  {
    id: "azure",
    telemetryName: "azure.ai.openai",
    keys: ["AZURE_OPENAI_API_KEY"],
    load: async () => (await import("./definitions/openai.ts")).azure,
  },
  { id: "qwen", keys: ["DASHSCOPE_API_KEY"], load: async () => (await import("./definitions/qwen.ts")).qwen },
  { id: "zai", keys: ["ZAI_API_KEY"], load: async () => (await import("./definitions/zai.ts")).zai },
  { id: "minimax", keys: ["MINIMAX_API_KEY"], load: async () => (await import("./definitions/minimax.ts")).minimax },
  {
    id: "cohere",
    keys: ["COHERE_API_KEY", "CO_API_KEY"],
    load: async () => (await import("./definitions/cohere.ts")).cohere,
  },
  { id: "local", keys: [], load: async () => (await import("./definitions/local.ts")).local },
  { id: "offline", keys: [], load: async () => (await import("./definitions/offline.ts")).offline },
];
