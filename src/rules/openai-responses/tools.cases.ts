import type { RuleCase } from "../rule.cases.ts";
import { ask, at, exchange, openai, tool, user } from "./bodies.cases.ts";
import { closed, casesFromRows } from "../openai/rows.cases.ts";

const tools = [tool("read")];
const schemaAt = "/tools/0/parameters";
const declared = (schema: unknown, more: Readonly<Record<string, unknown>> = {}): unknown =>
  ask("hi", { tools: [tool("read", { parameters: schema, ...more })] });
const named = { type: "function", name: "read" };
const deferred = [tool("read", { defer_loading: true }), { type: "tool_search" }];

/** Cases for declared tools, chosen tools and the arguments of calls. */
export const responsesToolCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/tool-shape", openai, [
    [
      "the form of Chat",
      "/tools/0",
      ask("hi", { tools: [{ type: "function", function: { name: "read" } }] }),
      ask("hi", { tools }),
    ],
    ["a tool that is text", "/tools/0", ask("hi", { tools: ["read"] }), ask("hi", { tools })],
    [
      "a tool without a type",
      "/tools/0",
      ask("hi", { tools: [{ name: "read" }] }),
      ask("hi", { tools: [{ type: "web_search" }] }),
    ],
    [
      "parameters that are text",
      "/tools/0/parameters",
      ask("hi", { tools: [tool("read", { parameters: "{}" })] }),
      ask("hi", { tools: [tool("read", { parameters: null })] }),
    ],
    ["tools that are an object", "/tools", ask("hi", { tools: {} }), ask("hi", { tools: null })],
  ]),
  ...casesFromRows("openai-responses/tool-type", openai, [
    [
      "an unknown type",
      "/tools/0/type",
      ask("hi", { tools: [{ type: "browser" }] }),
      ask("hi", { tools: [{ type: "image_generation" }, { type: "mcp" }] }),
    ],
  ]),
  ...casesFromRows("openai-responses/tool-name", openai, [
    [
      "dots of an MCP server",
      "/tools/0/name",
      ask("hi", { tools: [tool("fs.read")] }),
      ask("hi", { tools: [tool("fs-read")] }),
    ],
    [
      "65 letters",
      "/tools/0/name",
      ask("hi", { tools: [tool("r".repeat(65))] }),
      ask("hi", { tools: [tool("r".repeat(64))] }),
    ],
    ["dots in the history", "/input/1/name", ask(exchange("call_1", { name: "fs.read" })), ask(exchange("call_1"))],
  ]),
  ...casesFromRows("openai-responses/duplicate-tool-name", openai, [
    [
      "two tools with the same name",
      "/tools/1/name",
      ask("hi", { tools: [tool("read"), tool("read")] }),
      ask("hi", { tools: [tool("read"), { type: "namespace", name: "fs", tools: [tool("read")] }] }),
    ],
  ]),
  ...casesFromRows("openai-responses/too-many-tools", openai, [
    [
      "129 tools",
      "/tools",
      ask("hi", { tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }),
      ask("hi", { tools }),
    ],
  ]),
  ...casesFromRows("openai-responses/empty-tools", openai, [
    ["no tools in the list", "/tools", ask("hi", { tools: [] }), ask("hi", { tools })],
  ]),
  ...casesFromRows("openai-responses/tool-schema", openai, [
    [
      "an array without items",
      `${schemaAt}/properties/a`,
      declared({ type: "object", properties: { a: { type: "array" } } }),
      declared({ type: "object", properties: { a: { type: "array", items: {} } } }),
    ],
    [
      "anyOf at the top level",
      schemaAt,
      declared({ anyOf: [{ type: "object" }] }),
      declared({ type: "object", properties: {} }),
    ],
  ]),
  ...casesFromRows("openai-responses/strict-schema", openai, [
    [
      "an open object",
      schemaAt,
      declared({ type: "object", properties: {} }, { strict: true }),
      declared({ type: "object", properties: {} }, { strict: null }),
    ],
    [
      "no repetition",
      `${schemaAt}/properties/a/uniqueItems`,
      declared(closed({ a: { type: "array", items: { type: "string" }, uniqueItems: true } }), { strict: true }),
      declared(closed({ a: { type: "string", minLength: 1, default: "x" } }), { strict: true }),
    ],
    [
      "no parameters at all",
      "/tools/0",
      ask([user()], { tools: [{ type: "function", name: "read", strict: true }] }),
      ask([user()], { tools: [{ type: "function", name: "read", strict: false, parameters: {} }] }),
    ],
    [
      "oneOf",
      `${schemaAt}/properties/a/oneOf`,
      declared(closed({ a: { oneOf: [{ type: "string" }] } }), { strict: true }),
      declared(closed({ a: { anyOf: [{ type: "string" }] } }), { strict: true }),
    ],
  ]),
  ...casesFromRows("openai-responses/response-schema", openai, [
    [
      "an open answer",
      "/text/format/schema",
      ask("hi", {
        text: { format: { type: "json_schema", name: "x", strict: true, schema: { type: "object", properties: {} } } },
      }),
      ask("hi", { text: { format: { type: "json_schema", name: "x", strict: true, schema: closed({}) } } }),
    ],
  ]),
  ...casesFromRows("openai-responses/tool-choice", openai, [
    [
      "a word of Mistral",
      "/tool_choice",
      ask("hi", { tools, tool_choice: "any" }),
      ask("hi", { tools, tool_choice: "required" }),
    ],
    [
      "the form of Chat",
      "/tool_choice",
      ask("hi", { tools, tool_choice: { type: "function", function: { name: "read" } } }),
      ask("hi", { tools, tool_choice: named }),
    ],
    [
      "a number",
      "/tool_choice",
      ask("hi", { tools, tool_choice: 1 }),
      ask("hi", { tools, tool_choice: { type: "web_search" } }),
    ],
  ]),
  ...casesFromRows("openai-responses/unknown-tool-choice", openai, [
    [
      "a tool that is not declared",
      "/tool_choice",
      ask("hi", { tools, tool_choice: { type: "function", name: "write" } }),
      ask([{ type: "additional_tools", role: "developer", tools: [tool("write")] }, user()], {
        tools,
        tool_choice: { type: "function", name: "write" },
      }),
    ],
  ]),
  ...casesFromRows("openai-responses/choice-without-tools", openai, [
    [
      "an empty required list",
      "/tool_choice",
      ask("hi", { tool_choice: "required" }),
      ask("hi", { tool_choice: "auto" }),
    ],
    [
      "an empty choice object",
      "/tool_choice",
      ask("hi", { tool_choice: named }),
      ask("hi", { tools, tool_choice: named }),
    ],
  ]),
  ...casesFromRows("openai-responses/missing-namespace", openai, [
    [
      "a call to a tool that is loaded on demand",
      "/input/1",
      ask(exchange("call_1"), { tools: deferred }),
      ask(exchange("call_1", { namespace: "read" }), { tools: deferred }),
    ],
  ]),
  ...casesFromRows("openai-responses/unportable-arguments", openai, [
    [
      "arguments cut off by the stream",
      "/input/1/arguments",
      ask(exchange("call_1", { arguments: '{"a":' })),
      ask(exchange("call_1")),
    ],
  ]),
  ...casesFromRows("openai-responses/strict-schema", at("azure", "gpt-5.4"), [
    [
      "a default",
      `${schemaAt}/properties/a/default`,
      declared(closed({ a: { type: "string", default: "x" } }), { strict: true }),
      declared(closed({ a: { type: "string", pattern: "." } }), { strict: true }),
    ],
  ]),
  ...casesFromRows("openai-responses/portable-strict-schema", openai, [
    [
      "a length",
      `${schemaAt}/properties/a/minLength`,
      declared(closed({ a: { type: "string", minLength: 1 } }), { strict: true }),
      declared(closed({ a: { type: "string", pattern: "." } }), { strict: true }),
    ],
  ]),
];
