import { afterAll, beforeAll, expect, it } from "vitest";
import { openGatewayStage, type GatewayStage } from "./stage.ts";

let stage: GatewayStage;
beforeAll(async () => {
  stage = await openGatewayStage();
});
afterAll(() => stage.close());

it.each([
  "mistral/mistral-large-latest",
  "deepseek/deepseek-v4-pro",
  "kimi/kimi-k3",
  "openrouter/anthropic/claude-opus-5",
  "openai-chat/gpt-5.6",
])("a Chat Completions client may send what OpenAI's SDK sends: %s accepts it", async (model) => {
  const response = await stage.post("/v1/chat/completions", {
    model,
    stream: true,
    stream_options: { include_usage: true },
    store: false,
    messages: [{ role: "user", content: "Hello" }],
  });
  expect([response.status, (await response.text()).endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
});
