import type { RuleCase } from "../rule.cases.ts";
import { ask, at, deepseek, image, ok, openai, text, tool, user, xai } from "./bodies.cases.ts";
import { parameters, casesFromRows } from "../openai/rows.cases.ts";

const marked = { type: "input_text", text: "x", prompt_cache_breakpoint: { mode: "explicit" } };

/** Cases for values a model or a vendor does not accept. */
export const responsesFieldCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/parameter-range", openai, [
    ["below zero", "/temperature", ask("hi", { temperature: -1 }), ask("hi", { temperature: 0 })],
    [
      "too few tokens",
      "/max_output_tokens",
      ask("hi", { max_output_tokens: 15 }),
      ask("hi", { max_output_tokens: 16 }),
    ],
    ["top_p too high", "/top_p", ask("hi", { top_p: 2 }), ask("hi", { top_p: 1 })],
  ]),
  ...casesFromRows("openai-responses/unsupported-parameter", at("openai", "gpt-4o"), [
    [
      "effort for a model that does not reason",
      "/reasoning/effort",
      ask("hi", { reasoning: { effort: "low" } }),
      ask("hi", { reasoning: null }),
    ],
    [
      "encrypted content for a model without reasoning",
      "/include/0",
      ask("hi", { include: ["reasoning.encrypted_content"] }),
      ask("hi", { include: ["file_search_call.results"] }),
    ],
  ]),
  ...casesFromRows("openai-responses/unsupported-parameter", at("openai", "gpt-5-mini"), [
    [
      "temperature for a reasoning model",
      "/temperature",
      ask("hi", { temperature: 0.5 }),
      ask("hi", { temperature: 1 }),
    ],
  ]),
  ...casesFromRows("openai-responses/effort", at("openai", "gpt-5"), [
    [
      "none for GPT-5",
      "/reasoning/effort",
      ask("hi", { reasoning: { effort: "none" } }),
      ask("hi", { reasoning: { effort: "minimal" } }),
    ],
  ]),
  ...casesFromRows("openai-responses/effort", at("openai", "o4-mini"), [
    [
      "minimal for o4-mini",
      "/reasoning/effort",
      ask("hi", { reasoning: { effort: "minimal" } }),
      ask("hi", { reasoning: { effort: "high" } }),
    ],
  ]),
  ...casesFromRows("openai-responses/effort", at("openai", "gpt-5.1"), [
    [
      "minimal for GPT-5.1",
      "/reasoning/effort",
      ask("hi", { reasoning: { effort: "minimal" } }),
      ask("hi", { reasoning: { effort: "none" } }),
    ],
  ]),
  ...casesFromRows("openai-responses/image-model", at("openai", "o3-mini"), [
    ["an image for a text-only model", "/input/0/content/1", ask([user([text(), image()])]), ok],
  ]),
  ...casesFromRows("openai-responses/refused-field", xai, [
    ["metadata", "/metadata", ask("hi", { metadata: { user: "Ada" } }), ask("hi", { instructions: "be brief" })],
    ["metadata", "/metadata", ask("hi", { metadata: { a: "b" } }), ok],
  ]),
  ...casesFromRows("openai-responses/stream-options", openai, [
    [
      "options without a stream",
      "/stream_options",
      ask("hi", { stream_options: {} }),
      ask("hi", { stream: true, stream_options: {} }),
    ],
  ]),
  ...casesFromRows("openai-responses/json-word", openai, [
    [
      "JSON mode without the word in the messages",
      "/text/format",
      ask("hi", { text: { format: { type: "json_object" } }, instructions: "answer in JSON" }),
      ask("as JSON", { text: { format: { type: "json_object" } } }),
    ],
  ]),
  ...casesFromRows("openai-responses/cache-marks", openai, [
    [
      "a fifth mark",
      "/input/0/content/4",
      ask([user([marked, marked, marked, marked, marked])]),
      ask([user([marked, marked, marked, marked])]),
    ],
  ]),
  ...casesFromRows("openai-responses/lone-surrogate", deepseek, [
    ["an emoji cut in two", "/input", ask("so \ud83d"), ask("so \ud83d\ude00")],
  ]),
  ...casesFromRows("openai-responses/half-surrogate", openai, [
    ["an emoji cut in two", "/input", ask("so \ud83d"), ask("so \ud83d\ude00")],
  ]),
  ...casesFromRows("openai-responses/unsupported-parameter", at("openai", "gpt-5-nano"), [
    ["sampling where it is fixed", "/top_p", ask("hi", { top_p: 0.9 }), ask("hi", { top_p: 1 })],
  ]),
  ...casesFromRows("openai-responses/unsupported-parameter", openai, [
    [
      "sampling while it reasons",
      "/temperature",
      ask("hi", { temperature: 0, reasoning: { effort: "low" } }),
      ask("hi", { temperature: 0, reasoning: { effort: "none" } }),
    ],
  ]),
  ...casesFromRows("openai-responses/text-format", openai, [
    [
      "a schema without a name",
      "/text/format",
      ask("hi", { text: { format: { type: "json_schema", schema: parameters } } }),
      ask("hi", { text: { format: { type: "json_schema", name: "answer", schema: parameters } } }),
    ],
    [
      "a name of two words",
      "/text/format/name",
      ask("hi", { text: { format: { type: "json_schema", name: "the answer", schema: parameters } } }),
      ask("hi", { text: { format: { type: "text" } } }),
    ],
    ["no schema", "/text/format", ask("hi", { text: { format: { type: "json_schema", name: "answer" } } }), ask("hi")],
  ]),
  ...casesFromRows("openai-responses/text-format", at("openai", "gpt-4"), [
    [
      "a schema before there were any",
      "/text/format",
      ask("hi", { text: { format: { type: "json_schema", name: "answer", schema: parameters } } }),
      ask("hi", { text: { format: { type: "text" } } }),
    ],
  ]),
  ...casesFromRows("openai-responses/chat-only-model", at("openai"), [
    ["a model of Chat", "/model", ask("hi", { model: "o1-mini" }), ask("hi", { model: "gpt-5.4" })],
  ]),
  ...casesFromRows("openai-responses/tool-model", at("openai", "o3-deep-research"), [
    [
      "a function for deep research",
      "/tools/1",
      ask("hi", { tools: [{ type: "web_search_preview" }, tool("read")] }),
      ask("hi", { tools: [{ type: "web_search_preview" }] }),
    ],
    ["deep research with nothing to read", "", ask("hi"), ask("hi", { tools: [{ type: "web_search_preview" }] })],
  ]),
  ...casesFromRows("openai-responses/tool-model", at("openai", "gpt-4"), [
    [
      "a hosted tool for the oldest models",
      "/tools/0",
      ask("hi", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }),
      ask("hi", { tools: [tool("read")] }),
    ],
  ]),
];
