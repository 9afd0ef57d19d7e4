import { expect, it } from "vitest";
import { apiOfPath } from "./endpoints.ts";

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
