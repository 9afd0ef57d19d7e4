import type { RuleCase } from "../rule.cases.ts";
import { assistant, chat, exchange, text, user } from "./bodies.cases.ts";
import { at, deepseek, kimi, mistral, openai } from "./targets.cases.ts";
import { casesFromRows } from "../openai/rows.cases.ts";

const groq = at("groq", "openai/gpt-oss-120b");
const marked = { type: "text", text: "x", cache_control: { type: "ephemeral" } };

/** Cases for fields a vendor does not know and values a model does not accept. */
export const chatFieldCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/reasoning-field", groq, [
    [
      "the field of DeepSeek",
      "/messages/1/reasoning_content",
      chat([user(), assistant("hi", { reasoning_content: "so" }), user()]),
      chat([user(), assistant("hi", { reasoning: "so" }), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/reasoning-field", mistral, [
    [
      "the field of DeepSeek",
      "/messages/1/reasoning_content",
      chat([user(), assistant("hi", { reasoning_content: "so" }), user()]),
      chat([user(), assistant([{ type: "thinking", thinking: [text()] }, text()]), user()]),
    ],
    [
      "the field of Groq",
      "/messages/1/reasoning",
      chat([user(), assistant("hi", { reasoning: "so" }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/unknown-field", mistral, [
    ["a name", "/messages/0/name", chat([{ ...user(), name: "Ada" }]), chat([user()])],
    [
      "a setting of OpenAI",
      "/stream_options",
      chat([user()], { stream: true, stream_options: {} }),
      chat([user()], { stream: true, stop: null }),
    ],
    [
      "a null that it does not know",
      "/messages/1/refusal",
      chat([user(), assistant("hi", { refusal: null }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/unknown-field", groq, [
    [
      "a cache mark on a message",
      "/messages/0/cache_control",
      chat([{ ...user(), cache_control: { type: "ephemeral" } }]),
      chat([{ ...user(), name: "Ada" }]),
    ],
  ]),
  ...casesFromRows("openai-chat/unread-reasoning", openai, [
    [
      "the field of DeepSeek",
      "/messages/1/reasoning_content",
      chat([user(), assistant("hi", { reasoning_content: "so" }), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/null-field", groq, [
    [
      "tool_calls that are null",
      "/messages/1/tool_calls",
      chat([user(), assistant("hi", { tool_calls: null }), user()]),
      chat(exchange("call_1")),
    ],
  ]),
  ...casesFromRows("openai-chat/unsupported-role", at("openai-chat", "o1-mini"), [
    ["instructions for o1-mini", "/messages/0/role", chat([{ role: "system", content: "x" }, user()]), chat([user()])],
    ["developer for o1-mini", "/messages/0/role", chat([{ role: "developer", content: "x" }, user()]), chat([user()])],
  ]),
  ...["deepseek", "mistral", "zai", "xai"].flatMap((provider) =>
    casesFromRows("openai-chat/unsupported-role", at(provider, "m"), [
      [
        "the role of OpenAI",
        "/messages/0/role",
        chat([{ role: "developer", content: "x" }, user()]),
        chat([{ role: "system", content: "x" }, user()]),
      ],
    ]),
  ),
  ...casesFromRows("openai-chat/developer-role", kimi, [
    [
      "the role of OpenAI",
      "/messages/0/role",
      chat([{ role: "developer", content: "x" }, user()]),
      chat([{ role: "system", content: "x" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/parameter-range", openai, [
    ["below zero", "/temperature", chat([user()], { temperature: -1 }), chat([user()], { temperature: 0 })],
    ["above two", "/temperature", chat([user()], { temperature: 2.1 }), chat([user()], { temperature: 2 })],
    ["top_p too high", "/top_p", chat([user()], { top_p: 1.5 }), chat([user()], { top_p: 1 })],
    [
      "no tokens",
      "/max_completion_tokens",
      chat([user()], { max_completion_tokens: 0 }),
      chat([user()], { max_completion_tokens: 1 }),
    ],
    [
      "five stops",
      "/stop",
      chat([user()], { stop: ["a", "b", "c", "d", "e"] }),
      chat([user()], { stop: ["a", "b", "c", "d"] }),
    ],
  ]),
  ...casesFromRows("openai-chat/unsupported-parameter", at("openai-chat", "gpt-4o"), [
    [
      "search with a model that does not search",
      "/web_search_options",
      chat([user()], { web_search_options: {} }),
      chat([user()]),
    ],
    [
      "effort for a model that does not reason",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "low" }),
      chat([user()], { max_tokens: 5 }),
    ],
  ]),
  ...casesFromRows("openai-chat/unsupported-parameter", at("openai-chat", "o3-mini"), [
    ["the old limit", "/max_tokens", chat([user()], { max_tokens: 5 }), chat([user()], { max_completion_tokens: 5 })],
    [
      "temperature for a reasoning model",
      "/temperature",
      chat([user()], { temperature: 0.5 }),
      chat([user()], { temperature: 1 }),
    ],
  ]),
  ...casesFromRows("openai-chat/effort", at("openai-chat", "gpt-5-mini"), [
    [
      "none for GPT-5",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "none" }),
      chat([user()], { reasoning_effort: "minimal" }),
    ],
  ]),
  ...casesFromRows("openai-chat/effort", openai, [
    [
      "an unknown level",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "huge" }),
      chat([user()], { reasoning_effort: "xhigh" }),
    ],
  ]),
  ...casesFromRows("openai-chat/effort", groq, [
    [
      "none for gpt-oss",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "none" }),
      chat([user()], { reasoning_effort: "low" }),
    ],
  ]),
  ...casesFromRows("openai-chat/effort", at("groq", "qwen/qwen3-32b"), [
    [
      "low for Qwen",
      "/reasoning_effort",
      chat([user()], { reasoning_effort: "low" }),
      chat([user()], { reasoning_effort: "none" }),
    ],
  ]),
  ...casesFromRows("openai-chat/stream-options", openai, [
    [
      "options without a stream",
      "/stream_options",
      chat([user()], { stream_options: { include_usage: true } }),
      chat([user()], { stream: true, stream_options: { include_usage: true } }),
    ],
  ]),
  ...casesFromRows("openai-chat/foreign-parameter", openai, [
    [
      "reasoning of the Responses API",
      "/reasoning",
      chat([user()], { reasoning: { effort: "low" } }),
      chat([user()], { reasoning_effort: "low" }),
    ],
    ["instructions of the Responses API", "/instructions", chat([user()], { instructions: "x" }), chat([user()])],
  ]),
  ...casesFromRows("openai-chat/json-word", openai, [
    [
      "JSON mode without the word in the messages",
      "/response_format",
      chat([user()], { response_format: { type: "json_object" } }),
      chat([user("as JSON")], { response_format: { type: "json_object" } }),
    ],
  ]),
  ...casesFromRows("openai-chat/effort-and-budget", at("openrouter", "m"), [
    [
      "both",
      "/reasoning",
      chat([user()], { reasoning: { effort: "low", max_tokens: 100 } }),
      chat([user()], { reasoning: { max_tokens: 100 } }),
    ],
  ]),
  ...casesFromRows("openai-chat/cache-marks", at("openrouter", "m"), [
    [
      "a fifth mark",
      "/messages/0/content/4",
      chat([user([marked, marked, marked, marked, marked])]),
      chat([user([marked, marked, marked, marked])]),
    ],
  ]),
  ...casesFromRows("openai-chat/lone-surrogate", deepseek, [
    ["an emoji cut in two", "/messages/0/content", chat([user("so \ud83d")]), chat([user("so \ud83d\ude00")])],
  ]),
  ...casesFromRows("openai-chat/half-surrogate", openai, [
    ["an emoji cut in two", "/messages/0/content", chat([user("so \ud83d")]), chat([user("so \ud83d\ude00")])],
  ]),
];
