import { describe, expect, it } from "vitest";
import { providers } from "../providers/all.ts";
import { findTelemetryName } from "./attributes.ts";

describe("providers", () => {
  it("have the names of the GenAI conventions, or else their ids", () => {
    expect(Object.fromEntries(providers.map(({ id }) => [id, findTelemetryName(id)]))).toEqual({
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
