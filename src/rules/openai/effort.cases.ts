import type { RuleCase } from "../rule.cases.ts";
import { chat, user } from "../openai-chat/bodies.cases.ts";
import { at } from "../openai-chat/targets.cases.ts";
import { ask, at as atResponses } from "../openai-responses/bodies.cases.ts";
import { parameters, casesFromRows } from "./rows.cases.ts";

const tools = [{ type: "function", function: { name: "read", parameters } }];
const having = (more: Readonly<Record<string, unknown>>): unknown => chat([user()], more);

/** Bodies for the checks in `openai-effort.ts`, to Chat Completions. */
export const chatEffortCases: readonly RuleCase[] = [
  ...["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-mini-2026-03-17", "gpt-5.5", "gpt-5.6-terra"].flatMap((model) =>
    casesFromRows("openai-chat/effort-with-tools", at("openai-chat", model), [
      [
        `effort beside tools for ${model}`,
        "/reasoning_effort",
        having({ tools, reasoning_effort: "low" }),
        having({ tools, reasoning_effort: "none" }),
      ],
      [
        `effort beside tools for ${model}, and effort alone`,
        "/reasoning_effort",
        having({ tools, reasoning_effort: "high" }),
        having({ reasoning_effort: "high" }),
      ],
    ]),
  ),
  ...["gpt-5.5", "gpt-5.6", "gpt-5.6-sol"].flatMap((model) =>
    casesFromRows("openai-chat/effort-with-tools", at("openai-chat", model), [
      [
        `tools for ${model}, which thinks unless told not to`,
        "/reasoning_effort",
        having({ tools }),
        having({ tools, reasoning_effort: "none" }),
      ],
    ]),
  ),
  ...casesFromRows("openai-chat/unsupported-effort", at("openai-chat", "gpt-5-chat-latest"), [
    [
      "effort for a model that only chats",
      "/reasoning_effort",
      having({ reasoning_effort: "low" }),
      having({ reasoning_effort: null }),
    ],
  ]),
  ...["grok-code-fast-1", "grok-3", "grok-4", "grok-4-fast-reasoning", "grok-4.20-0309-reasoning"].flatMap((model) =>
    casesFromRows("openai-chat/unsupported-effort", at("xai", model), [
      [`effort for ${model}`, "/reasoning_effort", having({ reasoning_effort: "low" }), having({})],
    ]),
  ),
];

/** Bodies for the checks in `openai-effort.ts`, to Responses. */
export const responsesEffortCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/unsupported-effort", atResponses("openai", "gpt-5-chat-latest"), [
    [
      "effort for a model that only chats",
      "/reasoning/effort",
      ask("hi", { reasoning: { effort: "low" } }),
      ask("hi", { reasoning: { effort: null } }),
    ],
  ]),
  ...["grok-code-fast-1", "grok-3", "grok-4", "grok-4-1-fast-reasoning"].flatMap((model) =>
    casesFromRows("openai-responses/unsupported-effort", atResponses("xai", model), [
      [
        `effort for ${model}`,
        "/reasoning/effort",
        ask("hi", { reasoning: { effort: "low" } }),
        ask("hi", { reasoning: {} }),
      ],
    ]),
  ),
];
