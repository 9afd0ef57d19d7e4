import type { RuleCase } from "../rule.cases.ts";
import { assistant, call, calls, chat, exchange, result, tool, user } from "./bodies.cases.ts";
import { at, deepseek, kimi, mistral, openai } from "./targets.cases.ts";
import { closed, object, casesFromRows } from "../openai/rows.cases.ts";

const tools = [tool("read")];
const ok = chat([user()], { tools });
const declared = (schema: unknown, more: Readonly<Record<string, unknown>> = {}): unknown =>
  chat([user()], { tools: [tool("read", { parameters: schema, ...more })] });
const strict = (schema: unknown): unknown => declared(schema, { strict: true });
const schemaAt = "/tools/0/function/parameters";
const named = { type: "function", function: { name: "read" } };
const asked = (id: string, input: string): unknown => chat([user(), calls(call(id, input)), result(id)]);

/** Cases for declared tools, chosen tools and the arguments of calls. */
export const chatToolCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/tool-name", openai, [
    ["dots of an MCP server", "/tools/0/function/name", chat([user()], { tools: [tool("fs.read")] }), ok],
    [
      "65 letters",
      "/tools/0/function/name",
      chat([user()], { tools: [tool("r".repeat(65))] }),
      chat([user()], { tools: [tool("r".repeat(64))] }),
    ],
    ["an empty name", "/tools/0/function/name", chat([user()], { tools: [tool("")] }), ok],
    [
      "dots in the history",
      "/messages/1/tool_calls/0/function/name",
      chat([user(), calls(call("call_1", "{}", "fs.read")), result("call_1")]),
      chat(exchange("call_1")),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-name", mistral, [
    ["a blank", "/tools/0/function/name", chat([user()], { tools: [tool("read file")] }), ok],
  ]),
  ...casesFromRows("openai-chat/tool-name", kimi, [
    [
      "a digit first",
      "/tools/0/function/name",
      chat([user()], { tools: [tool("21st_magic")] }),
      chat([user()], { tools: [tool("m_21st")] }),
    ],
  ]),
  ...casesFromRows("openai-chat/duplicate-tool-name", openai, [
    [
      "two tools with the same name",
      "/tools/1/function/name",
      chat([user()], { tools: [tool("read"), tool("read")] }),
      chat([user()], { tools: [tool("read"), tool("write")] }),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-tools", openai, [
    ["no tools in the list", "/tools", chat([user()], { tools: [] }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/empty-tools", deepseek, [
    ["no tools in the list", "/tools", chat([user()], { tools: [] }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/empty-tool-calls", openai, [
    [
      "no calls in the list",
      "/messages/1/tool_calls",
      chat([user(), assistant("hi", { tool_calls: [] }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-tool-calls", deepseek, [
    [
      "no calls in the list",
      "/messages/1/tool_calls",
      chat([user(), assistant("hi", { tool_calls: [] }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-list", mistral, [
    [
      "Mistral takes an empty list",
      "/messages/1/tool_calls",
      chat([user(), assistant("hi", { tool_calls: [] }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-list", at("local", "m"), [
    ["so do local servers", "/tools", chat([user()], { tools: [] }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/tool-type", openai, [
    [
      "a tool of the Responses API",
      "/tools/0/type",
      chat([user()], { tools: [{ type: "web_search" }] }),
      chat([user()], { tools: [{ type: "custom", custom: { name: "x" } }] }),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-type", deepseek, [
    ["a custom tool", "/tools/0/type", chat([user()], { tools: [{ type: "custom", custom: { name: "x" } }] }), ok],
  ]),
  ...casesFromRows("openai-chat/too-many-tools", openai, [
    [
      "129 tools",
      "/tools",
      chat([user()], { tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }),
      chat([user()], { tools: Array.from({ length: 128 }, (_, index) => tool(`t${index}`)) }),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-schema", openai, [
    ["a string at the top", schemaAt, declared({ type: "string" }), ok],
    ["no type at the top", schemaAt, declared({ title: "x" }), declared({})],
    ["no properties", schemaAt, declared({ type: "object" }), declared(object({}))],
    [
      "anyOf at the top level",
      `${schemaAt}/anyOf`,
      declared(object({}, { anyOf: [{ required: ["a"] }] })),
      declared(object({ a: { anyOf: [{ type: "string" }, { type: "null" }] } })),
    ],
    [
      "an array without items",
      `${schemaAt}/properties/a`,
      declared(object({ a: { type: "array" } })),
      declared(object({ a: { type: "array", items: {} } })),
    ],
    [
      "a type of Gemini",
      `${schemaAt}/properties/a/type`,
      declared(object({ a: { type: "STRING" } })),
      declared(object({ a: { type: ["string", "null"] } })),
    ],
    [
      "required on the property",
      `${schemaAt}/properties/a/required`,
      declared(object({ a: { type: "string", required: true } })),
      declared(object({ a: { type: "string" } }, { required: ["a"] })),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-schema", kimi, [
    [
      "type beside anyOf",
      `${schemaAt}/properties/a/type`,
      declared(object({ a: { type: "string", anyOf: [{ type: "string" }] } })),
      declared(object({ a: { anyOf: [{ type: "string" }, { type: "null" }], description: "x" } })),
    ],
    [
      "a property without a type",
      `${schemaAt}/properties/a`,
      declared(object({ a: { description: "x" } })),
      declared(object({ a: { enum: ["x", "y"] } })),
    ],
    ["a property that is true", `${schemaAt}/properties/a`, declared(object({ a: true })), declared({})],
    [
      "a constant",
      `${schemaAt}/properties/a/const`,
      declared(object({ a: { type: "string", const: "x" } })),
      declared(object({ a: { type: "string", enum: ["x"] } })),
    ],
    [
      "a reference outside $defs",
      `${schemaAt}/properties/a/$ref`,
      declared(object({ a: { $ref: "#/properties/b" }, b: { type: "string" } })),
      declared(object({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { type: "string" } } })),
    ],
    [
      "type beside $ref",
      `${schemaAt}/properties/a/type`,
      declared(object({ a: { $ref: "#/$defs/b", type: "string" } }, { $defs: { b: { type: "string" } } })),
      declared(object({ a: { $ref: "#" } })),
    ],
    [
      "a mixed enum",
      `${schemaAt}/properties/a/enum`,
      declared(object({ a: { enum: ["x", 1] } })),
      declared(object({ a: { enum: [1, 2.5] } })),
    ],
    ["no type at the top", schemaAt, declared({ properties: {} }), declared(object({}))],
  ]),
  ...casesFromRows("openai-chat/tool-schema", mistral, [
    [
      "a bound in quotes",
      `${schemaAt}/properties/a/minimum`,
      declared(object({ a: { type: "number", minimum: "1" } })),
      declared(object({ a: { type: "number", minimum: 1 } })),
    ],
    [
      "an empty choice",
      `${schemaAt}/properties/a/anyOf`,
      declared(object({ a: { anyOf: [] } })),
      declared(object({ a: { anyOf: [{}] } })),
    ],
  ]),
  ...casesFromRows("openai-chat/strict-schema", openai, [
    [
      "an open object",
      schemaAt,
      strict(object({ a: { type: "string" } }, { required: ["a"] })),
      strict(closed({ a: { type: "string" } })),
    ],
    [
      "an optional property",
      schemaAt,
      strict(object({ a: { type: "string" } }, { additionalProperties: false })),
      declared(object({ a: { type: "string" } }, { additionalProperties: false }), { strict: false }),
    ],
    [
      "an open object inside",
      `${schemaAt}/properties/a`,
      strict(closed({ a: object({}) })),
      strict(closed({ a: closed({}) })),
    ],
    [
      "no repetition",
      `${schemaAt}/properties/a/uniqueItems`,
      strict(closed({ a: { type: "array", items: { type: "string" }, uniqueItems: true } })),
      strict(closed({ a: { type: "integer", format: "uint8", default: 1 } })),
    ],
    [
      "allOf",
      `${schemaAt}/properties/a/allOf`,
      strict(closed({ a: { type: "string", allOf: [{ type: "string" }] } })),
      strict(closed({ a: { anyOf: [{ type: "string" }, { type: "null" }] } })),
    ],
    [
      "an unknown format",
      `${schemaAt}/properties/a/format`,
      strict(closed({ a: { type: "string", format: "uri" } })),
      strict(closed({ a: { type: "string", format: "date-time" } })),
    ],
    [
      "a pattern with look-ahead",
      `${schemaAt}/properties/a/pattern`,
      strict(closed({ a: { type: "string", pattern: "^(?!x)" } })),
      strict(closed({ a: { type: "string", pattern: "^x+$" } })),
    ],
    [
      "keywords beside a reference",
      `${schemaAt}/properties/a`,
      strict(closed({ a: { $ref: "#", description: "x" } })),
      strict(closed({ a: { $ref: "#" } })),
    ],
    [
      "a property without a type",
      `${schemaAt}/properties/a`,
      strict(closed({ a: { description: "x" } })),
      strict(closed({ a: { const: "x" } })),
    ],
    ["eleven levels", schemaAt, strict(nested(11)), strict(nested(10))],
    [
      "more than a thousand values",
      schemaAt,
      strict(closed({ a: { type: "number", enum: Array.from({ length: 1001 }, (_, index) => index) } })),
      strict(closed({ a: { type: "number", enum: [1, 2] } })),
    ],
    [
      "a required name that is no property",
      `${schemaAt}/required`,
      strict({ type: "object", properties: {}, required: ["a"], additionalProperties: false }),
      strict(closed({})),
    ],
  ]),
  ...casesFromRows("openai-chat/response-schema", openai, [
    [
      "an open answer",
      "/response_format/json_schema/schema",
      chat([user()], {
        response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema: object({}) } },
      }),
      chat([user()], {
        response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema: closed({}) } },
      }),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-choice", openai, [
    [
      "a word of Mistral",
      "/tool_choice",
      chat([user()], { tools, tool_choice: "any" }),
      chat([user()], { tools, tool_choice: "required" }),
    ],
    [
      "a choice of Anthropic",
      "/tool_choice/type",
      chat([user()], { tools, tool_choice: { type: "tool", name: "read" } }),
      chat([user()], { tools, tool_choice: named }),
    ],
    [
      "a choice of the Responses API",
      "/tool_choice",
      chat([user()], { tools, tool_choice: { type: "function", name: "read" } }),
      chat([user()], { tools, tool_choice: named }),
    ],
    [
      "a number",
      "/tool_choice",
      chat([user()], { tools, tool_choice: 1 }),
      chat([user()], { tools, tool_choice: null }),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-choice", mistral, [
    [
      "an unknown word",
      "/tool_choice",
      chat([user()], { tools, tool_choice: "must" }),
      chat([user()], { tools, tool_choice: "any" }),
    ],
  ]),
  ...casesFromRows("openai-chat/unknown-tool-choice", openai, [
    [
      "a tool that is not declared",
      "/tool_choice/function/name",
      chat([user()], { tools, tool_choice: { type: "function", function: { name: "write" } } }),
      chat([user()], { tools, tool_choice: named }),
    ],
  ]),
  ...casesFromRows("openai-chat/choice-without-tools", openai, [
    [
      "an empty choice object",
      "/tool_choice",
      chat([user()], { tool_choice: "auto" }),
      chat([user()], { tools, tool_choice: "auto" }),
    ],
    [
      "parallel_tool_calls without tools",
      "/parallel_tool_calls",
      chat([user()], { parallel_tool_calls: true }),
      chat([user()], { tools, parallel_tool_calls: false }),
    ],
  ]),
  ...casesFromRows("openai-chat/forced-tool-choice", deepseek, [
    [
      "any tool while thinking",
      "/tool_choice",
      chat([user()], { tools, tool_choice: "required" }),
      chat([user()], { tools, tool_choice: "auto" }),
    ],
    [
      "one tool while thinking",
      "/tool_choice",
      chat([user()], { tools, tool_choice: named }),
      chat([user()], { tools, tool_choice: named, thinking: { type: "disabled" } }),
    ],
  ]),
  ...casesFromRows("openai-chat/forced-tool-choice", kimi, [
    [
      "any tool while thinking",
      "/tool_choice",
      chat([user()], { tools, tool_choice: "required" }),
      chat([user()], { tools, tool_choice: "none" }),
    ],
  ]),
  ...casesFromRows("openai-chat/forced-tool-choice", at("kimi", "kimi-k3"), [
    [
      "one tool while thinking",
      "/tool_choice",
      chat([user()], { tools, tool_choice: named }),
      chat([user()], { tools, tool_choice: "required" }),
    ],
  ]),
  ...casesFromRows("openai-chat/only-auto-choice", at("zai", "glm-5.2"), [
    [
      "none",
      "/tool_choice",
      chat([user()], { tools, tool_choice: "none" }),
      chat([user()], { tools, tool_choice: "auto" }),
    ],
  ]),
  ...casesFromRows("openai-chat/bad-arguments", at("local", "m"), [
    [
      "arguments cut off by the stream",
      "/messages/1/tool_calls/0/function/arguments",
      asked("call_1", '{"path": "a'),
      asked("call_1", '{"path": "a"}'),
    ],
    ["a list", "/messages/1/tool_calls/0/function/arguments", asked("call_1", "[]"), asked("call_1", "{}")],
  ]),
  ...["kimi", "qwen", "minimax"].flatMap((provider) =>
    casesFromRows("openai-chat/bad-arguments", at(provider, "kimi-k2-turbo"), [
      [
        "arguments cut off by the stream",
        "/messages/1/tool_calls/0/function/arguments",
        asked("call_1", '{"a":'),
        asked("call_1", "{}"),
      ],
    ]),
  ),
  ...casesFromRows("openai-chat/bad-arguments", mistral, [
    [
      "no arguments at all",
      "/messages/1/tool_calls/0/function/arguments",
      asked("abcdefghi", ""),
      asked("abcdefghi", "{}"),
    ],
  ]),
  ...casesFromRows("openai-chat/unportable-arguments", openai, [
    ["a list", "/messages/1/tool_calls/0/function/arguments", asked("call_1", "[]"), asked("call_1", "{}")],
  ]),
  ...casesFromRows("openai-chat/untool-declarations", at("openrouter", "m"), [
    [
      "calls in the history, no tools declared",
      "/messages/1",
      chat(exchange("call_1")),
      chat(exchange("call_1"), { tools }),
    ],
  ]),
  ...casesFromRows("openai-chat/strict-schema", openai, [
    [
      "no parameters at all",
      "/tools/0/function",
      chat([user()], { tools: [{ type: "function", function: { name: "read", strict: true } }] }),
      chat([user()], { tools: [{ type: "function", function: { name: "read" } }] }),
    ],
  ]),
  ...casesFromRows("openai-chat/strict-schema", at("azure", "gpt-5.4"), [
    [
      "a default",
      `${schemaAt}/properties/a/default`,
      strict(closed({ a: { type: "string", default: "x" } })),
      strict(closed({ a: { type: "string" } })),
    ],
    [
      "the format of a number",
      `${schemaAt}/properties/a/format`,
      strict(closed({ a: { type: "integer", format: "uint8" } })),
      strict(closed({ a: { type: "integer", minimum: 0 } })),
    ],
  ]),
  ...casesFromRows("openai-chat/portable-strict-schema", openai, [
    [
      "a default",
      `${schemaAt}/properties/a/default`,
      strict(closed({ a: { type: "string", default: "x" } })),
      strict(closed({ a: { type: "string" } })),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-choice", at("xai", "grok-4"), [
    [
      "a vendor's own type",
      "/tool_choice/type",
      chat([user()], { tools: [tool("read")], tool_choice: { type: "tools", name: "read" } }),
      chat([user()], { tools: [tool("read")], tool_choice: { type: "tool", name: "read" } }),
    ],
  ]),
];

function nested(levels: number): unknown {
  return levels === 1 ? closed({ a: { type: "string" } }) : closed({ a: nested(levels - 1) });
}
