import type { RuleCase } from "../rule.cases.ts";
import { assistant, call, calls, chat, image, ok, okExchange, result, text, tool, user } from "./bodies.cases.ts";
import { at, groq, kimi, mistral, openai } from "./targets.cases.ts";
import { png, casesFromRows } from "../openai/rows.cases.ts";

/** Cases for JSON types, roles, parts and empty messages. */
export const chatShapeCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/shape", openai, [
    ["a body that is a list", "", [], ok],
    ["a body that is nothing", "", null, ok],
    ["no messages", "", { model: "m" }, ok],
    ["messages that are text", "/messages", chat("hi"), ok],
    ["a model that is a number", "/model", { model: 4, messages: [user()] }, ok],
    ["a message that is text", "/messages/1", chat([user(), "hi"]), ok],
    ["a message without a role", "/messages/0", chat([{ content: "hi" }]), ok],
    ["a role that is a number", "/messages/0/role", chat([{ role: 1, content: "hi" }]), ok],
    ["content that is a number", "/messages/0/content", chat([user(7)]), ok],
    ["a part that is text", "/messages/0/content/0", chat([user(["hi"])]), chat([user([text()])])],
    ["a part without a type", "/messages/0/content/0", chat([user([{ text: "hi" }])]), chat([user([text()])])],
    ["a text part without text", "/messages/0/content/0", chat([user([{ type: "text" }])]), chat([user([text("")])])],
    [
      "an image part that is only a URL",
      "/messages/0/content/0/image_url",
      chat([user([{ type: "image_url", image_url: png }])]),
      chat([user([image()])]),
    ],
    [
      "an image part without a URL",
      "/messages/0/content/0/image_url",
      chat([user([image(5)])]),
      chat([user([image()])]),
    ],
    [
      "tool_calls that are an object",
      "/messages/1/tool_calls",
      chat([user(), assistant("x", { tool_calls: {} })]),
      okExchange,
    ],
    [
      "a call without an id",
      "/messages/1/tool_calls/0",
      chat([
        user(),
        assistant("x", { tool_calls: [{ type: "function", function: { name: "read", arguments: "{}" } }] }),
      ]),
      okExchange,
    ],
    [
      "a call without a function",
      "/messages/1/tool_calls/0",
      chat([user(), calls({ id: "call_1", type: "function" }), result("call_1")]),
      okExchange,
    ],
    ["a result without tool_call_id", "/messages/1", chat([user(), { role: "tool", content: "done" }]), okExchange],
    ["a tool that is text", "/tools/0", chat([user()], { tools: ["read"] }), chat([user()], { tools: [tool("read")] })],
    [
      "a tool in the form of the Responses API",
      "/tools/0",
      chat([user()], { tools: [{ type: "function", name: "read" }] }),
      chat([user()], { tools: [tool("read")] }),
    ],
    [
      "a tool without a type",
      "/tools/0",
      chat([user()], { tools: [{ function: { name: "read" } }] }),
      chat([user()], { tools: [tool("read")] }),
    ],
  ]),
  ...casesFromRows("openai-chat/shape", mistral, [
    [
      "an empty image part",
      "/messages/0/content/0",
      chat([user([{ type: "image_url" }])]),
      chat([user([{ type: "image_url", image_url: png }])]),
    ],
  ]),
  ...casesFromRows("openai-chat/arguments-type", openai, [
    [
      "arguments that are an object",
      "/messages/1/tool_calls/0/function/arguments",
      chat([user(), calls(call("call_1", { path: "a" })), result("call_1")]),
      okExchange,
    ],
    [
      "arguments that are missing",
      "/messages/1/tool_calls/0/function/arguments",
      chat([user(), calls({ id: "call_1", type: "function", function: { name: "read" } }), result("call_1")]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/arguments-type", mistral, [
    [
      "arguments that are a list",
      "/messages/1/tool_calls/0/function/arguments",
      chat([user(), calls(call("abcdefghi", [])), result("abcdefghi")]),
      chat([user(), calls(call("abcdefghi", {})), result("abcdefghi")]),
    ],
  ]),
  ...casesFromRows("openai-chat/no-messages", openai, [["an empty list", "/messages", chat([]), ok]]),
  ...casesFromRows("openai-chat/unknown-role", openai, [
    [
      "a role of Gemini",
      "/messages/1/role",
      chat([user(), { role: "model", content: "hi" }]),
      chat([user(), assistant("hi")]),
    ],
    ["a role in capitals", "/messages/0/role", chat([{ role: "User", content: "hi" }]), ok],
  ]),
  ...casesFromRows("openai-chat/unknown-part", openai, [
    [
      "a part of the Responses API",
      "/messages/0/content/0/type",
      chat([user([{ type: "input_text", text: "hi" }])]),
      chat([user([text()])]),
    ],
    [
      "a part of Anthropic",
      "/messages/0/content/0/type",
      chat([user([{ type: "image", source: {} }])]),
      chat([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/missing-content", openai, [
    ["a user who says null", "/messages/0", chat([user(null)]), chat([user("")])],
    [
      "a result without content",
      "/messages/2",
      chat([user(), calls(call("call_1")), { role: "tool", tool_call_id: "call_1" }]),
      okExchange,
    ],
    [
      "instructions without content",
      "/messages/0",
      chat([{ role: "system" }, user()]),
      chat([{ role: "system", content: "be brief" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-content", openai, [
    ["a user with an empty list", "/messages/0/content", chat([user([])]), chat([user([text()])])],
    [
      "a result with an empty list",
      "/messages/2/content",
      chat([user(), calls(call("call_1")), result("call_1", [])]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/empty-content", groq, [
    [
      "a result with an empty list",
      "/messages/2/content",
      chat([user(), calls(call("call_1")), result("call_1", [])]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/empty-assistant", openai, [
    [
      "neither content nor calls",
      "/messages/1",
      chat([user(), { role: "assistant" }, user()]),
      chat([user(), assistant("hi"), user()]),
    ],
    [
      "null and no calls",
      "/messages/1",
      chat([user(), assistant(null), user()]),
      chat([user(), assistant(""), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-assistant", kimi, [
    ["an empty text", "/messages/1", chat([user(), assistant(""), user()]), chat([user(), assistant("hi"), user()])],
  ]),
  ...casesFromRows("openai-chat/empty-assistant", mistral, [
    [
      "an empty list and no calls",
      "/messages/1",
      chat([user(), assistant([]), user()]),
      chat([user(), { ...calls(call("abcdefghi")), content: [] }, result("abcdefghi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-text", kimi, [
    [
      "an empty part",
      "/messages/0/content/0/text",
      chat([user([text(""), image()])]),
      chat([user([text(" "), image()])]),
    ],
    ["an empty user message", "/messages/0/content", chat([user("")]), ok],
  ]),
  ...casesFromRows("openai-chat/empty-text", at("zai", "glm-5.2"), [
    ["an empty part", "/messages/0/content/0/text", chat([user([text("")])]), ok],
  ]),
];
