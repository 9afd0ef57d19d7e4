import { describe, expect, it } from "vitest";
import { ask, at, call, exchange, openai, output, thought, tool, user } from "./bodies.cases.ts";
import { openaiResponsesCases } from "./rules.cases.ts";
import { lint } from "../lint.ts";
import { testRules } from "../test-rules.cases.ts";

describe("openai-responses rules", () => {
  testRules("openai-responses", openaiResponsesCases);

  it.each([
    ["plain text", openai, ask("hi")],
    ["outputs whose calls the server keeps", openai, ask([output("call_1")], { previous_response_id: "resp_1" })],
    [
      "a search for tools that is answered like a function",
      openai,
      ask([user(), { type: "tool_search_call", call_id: "a", execution: "client", arguments: {} }, output("a")]),
    ],
    [
      "a search for tools that the server ran itself",
      openai,
      ask([user(), { type: "tool_search_call", call_id: null, execution: "server", arguments: {} }, user()]),
    ],
    ["a call id with a colon", openai, ask(exchange("resp_1:call_0"))],
    ["an empty answer of the past", openai, ask([user(), { role: "assistant", content: "" }, call("a"), output("a")])],
    [
      "items and tools that the server runs",
      openai,
      ask([user(), { type: "code_interpreter_call", id: "ci_1", outputs: null }, user()], {
        tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      }),
    ],
    [
      "tools that come with the conversation",
      openai,
      ask([user(), { type: "additional_tools", role: "developer", tools: [tool("read")] }]),
    ],
    [
      "ids of its own on DeepSeek",
      at("deepseek"),
      ask([user(), thought("fa6f3a83", { encrypted_content: null }), call("a"), output("a")]),
    ],
    [
      "reasoning without an id",
      openai,
      ask([user(), { type: "reasoning", summary: [], encrypted_content: "gA==" }, call("a"), output("a")]),
    ],
  ])("accepts %s", (_name, target, body) => {
    expect(lint(body, target).filter(({ level }) => level === "error")).toEqual([]);
  });
});
