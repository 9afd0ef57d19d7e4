import type { RuleCase } from "../rule.cases.ts";
import { ask, call, image, ok, okExchange, openai, output, said, text, thought, user } from "./bodies.cases.ts";
import { casesFromRows } from "../openai/rows.cases.ts";

/** Cases for JSON types, item types, roles and part types. */
export const responsesShapeCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/shape", openai, [
    ["a body that is text", "", "hi", ask("hi")],
    ["a model that is a number", "/model", { model: 4, input: "hi" }, ok],
    ["input that is an object", "/input", ask({ role: "user" }), ok],
    [
      "instructions that are a number",
      "/instructions",
      ask("hi", { instructions: 7 }),
      ask("hi", { instructions: "x" }),
    ],
    ["an item that is text", "/input/1", ask([user(), "hi"]), ok],
    ["an item without type and role", "/input/0", ask([{ content: "hi" }]), ok],
    ["a type that is a number", "/input/0/type", ask([{ type: 5, content: "hi" }]), ok],
    ["a message without a role", "/input/0", ask([{ type: "message", content: "hi" }]), ok],
    ["a message without content", "/input/0", ask([{ role: "user" }]), ask([user("")])],
    ["content that is a number", "/input/0/content", ask([user(7)]), ok],
    ["a part that is text", "/input/0/content/0", ask([user(["hi"])]), ask([user([text()])])],
    ["a part without a type", "/input/0/content/0", ask([user([{ text: "hi" }])]), ask([user([text()])])],
    ["a text part without text", "/input/0/content/0", ask([user([{ type: "input_text" }])]), ask([user([text("")])])],
    [
      "a call without a name",
      "/input/1",
      ask([user(), { type: "function_call", call_id: "call_1", arguments: "{}" }, output("call_1")]),
      okExchange,
    ],
    [
      "arguments that are an object",
      "/input/1/arguments",
      ask([user(), call("call_1", { arguments: {} }), output("call_1")]),
      okExchange,
    ],
    [
      "a custom call without input",
      "/input/1",
      ask([
        user(),
        { type: "custom_tool_call", call_id: "call_1", name: "patch" },
        { type: "custom_tool_call_output", call_id: "call_1", output: "ok" },
      ]),
      okExchange,
    ],
    [
      "an output without a call_id",
      "/input/1",
      ask([user(), { type: "function_call_output", output: "done" }]),
      okExchange,
    ],
    ["an output without content", "/input/2", ask([user(), call("call_1"), output("call_1", null)]), okExchange],
    [
      "an output that is an object",
      "/input/2/output",
      ask([user(), call("call_1"), output("call_1", { a: 1 })]),
      okExchange,
    ],
    [
      "reasoning without a summary",
      "/input/1",
      ask([user(), { type: "reasoning", id: "rs_1", encrypted_content: "gA==" }, said("msg_1"), user()]),
      ask([user(), thought("rs_1"), said("msg_1"), user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/no-input", openai, [
    ["nothing to answer", "", { model: "m" }, { model: "m", previous_response_id: "resp_1" }],
    ["an empty list", "/input", ask([]), ask([], { conversation: "conv_1" })],
  ]),
  ...casesFromRows("openai-responses/unknown-item", openai, [
    [
      "a block of Anthropic",
      "/input/0/type",
      ask([{ type: "tool_use", id: "t", name: "read" }]),
      ask([{ type: "web_search_call", id: "ws_1", status: "completed" }]),
    ],
    [
      "an unknown type",
      "/input/0/type",
      ask([{ type: "thought" }]),
      ask([{ type: "compaction", encrypted_content: "gA==" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/unknown-role", openai, [
    [
      "a role of Chat",
      "/input/1/role",
      ask([user(), { role: "tool", content: "done" }]),
      ask([user(), { role: "developer", content: "x" }]),
    ],
  ]),
  ...casesFromRows("openai-responses/unknown-part", openai, [
    ["a part of Chat", "/input/0/content/0/type", ask([user([{ type: "text", text: "hi" }])]), ask([user([text()])])],
    [
      "an image part of Chat",
      "/input/0/content/0/type",
      ask([user([{ type: "image_url", image_url: { url: "https://a.test" } }])]),
      ask([user([image()])]),
    ],
    [
      "a film",
      "/input/2/output/0/type",
      ask([user(), call("call_1"), output("call_1", [{ type: "input_video" }])]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-responses/part-role", openai, [
    [
      "input parts in an assistant message",
      "/input/1/content/0/type",
      ask([user(), { role: "assistant", content: [text()] }, user()]),
      ask([user(), { role: "assistant", content: [{ type: "output_text", text: "x" }] }, user()]),
    ],
    [
      "output parts in a user message",
      "/input/0/content/0/type",
      ask([user([{ type: "output_text", text: "x" }])]),
      ask([user([text()])]),
    ],
    [
      "an image of the model",
      "/input/1/content/0/type",
      ask([user(), { role: "assistant", content: [image()] }, user()]),
      ask([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-responses/foreign-parameter", openai, [
    ["messages", "/messages", ask("hi", { messages: [] }), ok],
    ["the limit of Chat", "/max_tokens", ask("hi", { max_tokens: 50 }), ask("hi", { max_output_tokens: 50 })],
    [
      "the format of Chat",
      "/response_format",
      ask("hi", { response_format: { type: "text" } }),
      ask("hi", { text: { format: { type: "text" } } }),
    ],
    ["several answers", "/n", ask("hi", { n: 2 }), ok],
  ]),
  ...casesFromRows("openai-responses/foreign-field", openai, [
    [
      "calls of Chat",
      "/input/1/tool_calls",
      ask([user(), { role: "assistant", content: "x", tool_calls: [] }, user()]),
      ask([user(), { role: "assistant", content: "x" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/two-histories", openai, [
    [
      "a response and a conversation",
      "/conversation",
      ask("hi", { previous_response_id: "resp_1", conversation: "conv_1" }),
      ask("hi", { previous_response_id: null, conversation: "conv_1" }),
    ],
  ]),
];
