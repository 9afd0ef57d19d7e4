import { describe, expect, it } from "vitest";
import { providers } from "../providers/all.ts";
import { providerName } from "./provider-names.ts";

describe("providers", () => {
  it("have the names the GenAI conventions give them, or else their own", () => {
    expect(Object.fromEntries(providers.map(({ id }) => [id, providerName(id)]))).toEqual({
      google: "gcp.gemini",
      vertex: "gcp.vertex_ai",
      "code-assist": "gcp.gen_ai",
      anthropic: "anthropic",
      bedrock: "aws.bedrock",
      openai: "openai",
      "openai-chat": "openai",
      xai: "x_ai",
      groq: "groq",
      openrouter: "openrouter",
      kimi: "moonshot_ai",
      mistral: "mistral_ai",
      deepseek: "deepseek",
      azure: "azure.ai.openai",
      qwen: "qwen",
      zai: "zai",
      minimax: "minimax",
      cohere: "cohere",
      local: "local",
      offline: "offline",
    });
  });
});
