import { describe, expect, it } from "vitest";
import { providers } from "../providers/all.ts";
import { findTelemetryName } from "./attributes.ts";

describe("providers", () => {
  it("have the names of the GenAI conventions, or else their ids", () => {
    expect(Object.fromEntries(providers.map(({ id }) => [id, findTelemetryName(id)]))).toEqual({
      ...Object.fromEntries(providers.map(({ id }) => [id, id])),
      google: "gcp.gemini",
      vertex: "gcp.vertex_ai",
      "code-assist": "gcp.gen_ai",
      bedrock: "aws.bedrock",
      "openai-chat": "openai",
      xai: "x_ai",
      kimi: "moonshot_ai",
      mistral: "mistral_ai",
      azure: "azure.ai.openai",
    });
  });
});
