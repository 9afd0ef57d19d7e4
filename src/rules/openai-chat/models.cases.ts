import type { RuleCase } from "../rule.cases.ts";
import { assistant, call, calls, chat, exchange, image, result, text, tool, user } from "./bodies.cases.ts";
import { at, local, openai } from "./targets.cases.ts";
import { parameters, casesFromRows } from "../openai/rows.cases.ts";

const system = { role: "system", content: "Be brief." };
const tools = [tool("read")];
const named = { type: "function", function: { name: "read" } };
const schema = (name?: string): unknown => ({
  type: "json_schema",
  json_schema: { schema: parameters, ...(name === undefined ? {} : { name }) },
});
const thinking = { type: "thinking", thinking: [text()] };

/** Cases for features a model does not support, and for recorded acceptances. */
export const chatModelCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/model-features", at("groq", "meta-llama/llama-guard-4-12b"), [
    ["tools for a guard", "/tools", chat([user()], { tools }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/model-features", at("openrouter", "x-ai/grok-4"), [
    [
      "a named tool behind OpenRouter",
      "/tool_choice",
      chat([user()], { tools, tool_choice: named }),
      chat([user()], { tools, tool_choice: "required" }),
    ],
  ]),
  ...casesFromRows("openai-chat/model-features", at("openrouter", "openai/gpt-5-image"), [
    ["a temperature for an image model", "/temperature", chat([user()], { temperature: 0 }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/model-features", at("openrouter", "openai/gpt-4.1"), [
    [
      "fewer tokens than Responses takes",
      "/max_tokens",
      chat([user()], { max_tokens: 10 }),
      chat([user()], { max_tokens: 16 }),
    ],
  ]),
  ...casesFromRows("openai-chat/model-features", at("openrouter", "openai/gpt-4o"), [
    [
      "a file by URL",
      "/messages/0/content/0",
      chat([user([{ type: "file", file: { file_data: "https://example.com/a.pdf" } }])]),
      chat([user([{ type: "file", file: { file_data: "https://example.com/a.pdf" } }])], { plugins: [] }),
    ],
  ]),
  ...casesFromRows("openai-chat/model-features", at("openrouter", "google/gemma-3n-e4b-it:free"), [
    ["instructions for Gemma 3n", "/messages/0", chat([system, user()]), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/model-features", at("azure", "mai-ds-r1"), [
    [
      "a named tool",
      "/tool_choice",
      chat([user()], { tools, tool_choice: named }),
      chat([user()], { tools, tool_choice: "required" }),
    ],
  ]),
  ...casesFromRows("openai-chat/model-features", at("mistral", "ministral-3b-latest"), [
    ["probabilities", "/logprobs", chat([user()], { logprobs: true }), chat([user()])],
    [
      "reasoning for a model without it",
      "/messages/1/content/0",
      chat([user(), assistant([thinking, text()]), user()]),
      chat([user(), assistant([text()]), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/model-features", at("mistral", "mistral-small"), [
    ["an image for an old model", "/messages/0/content/0", chat([user([image()])]), chat([user([text()])])],
  ]),
  ...casesFromRows("openai-chat/effort", at("mistral", "mistral-small-latest"), [
    [
      "a level between",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "low" }),
      chat([user()], { reasoning_effort: "high" }),
    ],
  ]),
  ...casesFromRows("openai-chat/unsupported-parameter", at("openai-chat", "gpt-5-mini"), [
    ["a stop", "/stop", chat([user()], { stop: ["4242"] }), chat([user()], { stop: null })],
    ["top_p", "/top_p", chat([user()], { top_p: 0.3 }), chat([user()], { top_p: 1 })],
    ["a penalty", "/presence_penalty", chat([user()], { presence_penalty: 1 }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/unsupported-parameter", at("openai-chat", "o3-mini"), [
    [
      "parallel calls",
      "/parallel_tool_calls",
      chat([user()], { tools, parallel_tool_calls: false }),
      chat([user()], { tools, stop: ["x"] }),
    ],
  ]),
  ...casesFromRows("openai-chat/parameter-type", local, [
    [
      "a temperature as text",
      "/temperature",
      chat([user()], { temperature: "hot" }),
      chat([user()], { temperature: 1 }),
    ],
  ]),
  ...casesFromRows("openai-chat/parameter-type", openai, [
    [
      "a limit in quotes",
      "/max_completion_tokens",
      chat([user()], { max_completion_tokens: "9" }),
      chat([user()], { max_completion_tokens: 9 }),
    ],
  ]),
  ...casesFromRows("openai-chat/response-format", openai, [
    [
      "a schema without a name",
      "/response_format/json_schema",
      chat([user()], { response_format: schema() }),
      chat([user()], { response_format: schema("answer") }),
    ],
    [
      "no schema at all",
      "/response_format",
      chat([user()], { response_format: { type: "json_schema" } }),
      chat([user()], { response_format: { type: "text" } }),
    ],
  ]),
  ...casesFromRows("openai-chat/response-format", at("openai-chat", "gpt-4"), [
    [
      "a schema before there were any",
      "/response_format",
      chat([user()], { response_format: schema("answer") }),
      chat([user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/response-format", at("openai-chat", "gpt-4-0613"), [
    [
      "JSON before the turbo models",
      "/response_format",
      chat([user("Say it in JSON.")], { response_format: { type: "json_object" } }),
      chat([user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/shape", openai, [
    [
      "a function that does not say who it is",
      "/messages/1",
      chat([user(), { role: "function", content: "5" }]),
      chat([user(), { role: "function", name: "read", content: "5" }]),
    ],
    ["an image that is null", "/messages/0/content/0/image_url", chat([user([image(null)])]), chat([user([image()])])],
  ]),
  ...casesFromRows("openai-chat/call-without-result", at("zai", "glm-5"), [
    [
      "half of the results, by their order",
      "/messages/1/tool_calls/1",
      chat([user(), calls(call("a"), call("b")), result(undefined)]),
      chat([user(), calls(call("a"), call("b")), result(undefined), result(undefined)]),
    ],
  ]),
  ...casesFromRows("openai-chat/open-call", local, [
    [
      "a call without a result",
      "/messages/1/tool_calls/0",
      chat([user(), calls(call("a")), user()]),
      chat(exchange("a")),
    ],
  ]),
  ...casesFromRows("openai-chat/empty-content-beside-calls", openai, [
    [
      "an array without items",
      "/messages/1/content",
      chat([user(), { ...calls(call("a")), content: [] }, result("a")]),
      chat(exchange("a")),
    ],
  ]),
];
