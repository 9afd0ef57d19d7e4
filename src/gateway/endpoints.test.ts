import { expect, it } from "vitest";
import { apiOfPath, findEndpoint } from "./endpoints.ts";

it.each([
  ["/v1/chat/completions", "openai-chat"],
  ["/v1/responses", "openai-responses"],
  ["/v1/messages", "anthropic"],
  ["/v1beta/models/m:generateContent", "gemini"],
  ["/v1/models", "anthropic"],
  ["/v1/unknown", "anthropic"],
])("an error on %s is in the words of its API, whatever headers the client adds: %s", (path, api) => {
  expect(apiOfPath(path, { "anthropic-version": "2023-06-01" })).toBe(api);
});

it.each([
  ["/openai/v1/chat/completions", "groq-typescript 1.6", "groq"],
  ["/v1/chat/completions", "speakeasy-sdk/typescript 2.7.0 @mistralai/mistralai", "mistral"],
  ["/v1/chat/completions", "OpenAI/JS 6.49", undefined],
])("%s by %s is in the form of the client's vendor", (path, agent, vendor) => {
  const endpoint = findEndpoint(path, { "user-agent": agent });
  expect([endpoint?.operation, endpoint?.api, endpoint?.vendor]).toEqual(["generate", "openai-chat", vendor]);
});
