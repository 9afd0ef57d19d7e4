import { describe, expect, it } from "vitest";
import { call, calls, chat, exchange, file, image, result, tool, user } from "./bodies.cases.ts";
import { at, openai } from "./targets.cases.ts";
import { openaiChatCases } from "./rules.cases.ts";
import { lint } from "../lint.ts";
import { testRules } from "../test-rules.cases.ts";

describe("openai-chat rules", () => {
  testRules("openai-chat", openaiChatCases);

  it.each([
    [
      "the id of a foreign model that Mistral hosts",
      at("mistral", "zai-glm-5-2"),
      chat(exchange("chatcmpl-tool-9f149c74c42f265b")),
    ],
    [
      "a user after a result on hosted Mistral",
      at("mistral", "mistral-large-latest"),
      chat([...exchange("abcdefghi"), user()]),
    ],
    ["settings that are null on Mistral", at("mistral"), chat([user()], { stop: null, presence_penalty: null })],
    ["instructions in the middle on OpenAI", openai, chat([user(), { role: "system", content: "x" }, user()])],
    ["instructions at the end on OpenAI", openai, chat([{ role: "system", content: "x" }])],
    [
      "fields that are null on a local server",
      at("local"),
      chat([{ role: "user", content: "x", name: null, tool_calls: null }]),
    ],
    ["a call of the past whose tool is gone", openai, chat(exchange("call_1"))],
    [
      "results in another order than the calls",
      openai,
      chat([user(), calls(call("a"), call("b")), result("b"), result("a")]),
    ],
    ["a Kimi model that does not think", at("kimi", "kimi-k2-turbo-preview"), chat(exchange("read:0"))],
    ["a DeepSeek model that does not think", at("deepseek", "deepseek-chat"), chat(exchange("call_1"))],
    [
      "every kind of media in a result on OpenRouter",
      at("openrouter"),
      chat([user(), calls(call("a")), result("a", [image(), file({ file_data: "https://a.test/a.pdf" })])]),
    ],
    [
      "an open schema with strict where it is not enforced",
      at("openrouter"),
      chat([user()], { tools: [tool("read", { strict: true, parameters: { type: "object", properties: {} } })] }),
    ],
  ])("accepts %s", (_name, target, body) => {
    expect(lint(body, target).filter(({ level }) => level === "error")).toEqual([]);
  });
});
