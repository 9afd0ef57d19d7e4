import { describe, expect, it } from "vitest";
import { destinationOf } from "./find.ts";

/* Models expect their vendor's id format at any provider. */

const idOf = (to: string, tool = "read_file"): string => destinationOf(to).target.ids.project(7, tool, 0);

describe("a tool-call id", () => {
  it.each([
    "kimi/kimi-k3",
    "openrouter/moonshotai/kimi-k3",
    "groq/moonshotai/kimi-k2-instruct-0905",
    "azure/Kimi-K2.5",
    "qwen/kimi-k2-thinking",
    "local/kimi-k2",
  ])("has Kimi's format for %s", (to) => {
    expect(idOf(to)).toBe("functions.read_file:7");
  });

  it.each([
    "mistral/mistral-large-latest",
    "openrouter/mistralai/mistral-large-2512",
    "openrouter/mistralai/devstral-2512",
    "groq/mistral-saba-24b",
    "azure/Mistral-Large-3",
    "local/mistral-small",
  ])("has Mistral's format for %s", (to) => {
    expect(idOf(to)).toBe("c00000007");
  });

  it.each(["openrouter/anthropic/claude-sonnet-5", "groq/openai/gpt-oss-120b", "azure/gpt-5.6", "qwen/qwen3-max"])(
    "has the server's format for %s",
    (to) => {
      expect(idOf(to)).toBe("call_7");
    },
  );

  it("fits the limit of Responses on Azure, even for a long tool name", () => {
    const { ids } = destinationOf("azure/Kimi-K2.5").target;
    const long = ids.project(123_456, "t".repeat(64), 1);
    expect(long.length).toBeLessThanOrEqual(64);
    expect(long).toMatch(ids.legal);
  });
});
