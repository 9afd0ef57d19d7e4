import type { FieldTable } from "../provider-fields.ts";

/**
 * Fields of servers of this family that are carried over unchanged. References to state on the server
 * (`previous_response_id`, `conversation`) are not: every request contains the whole conversation.
 */
export const responsesFields: FieldTable = {
  carried: {
    text: "object",
    metadata: "object",
    service_tier: "string",
    user: "string",
    safety_identifier: "string",
    truncation: "string",
    prompt: "object",
    prompt_cache_options: "object",
    prompt_cache_retention: "string",
    context_management: "any",
    moderation: "any",
    "reasoning/summary": "string",
    "reasoning/generate_summary": "string",
    "reasoning/context": "string",
    search_parameters: "object",
    provider: "object",
    models: "list",
    plugins: "list",
  },
  sampling: {
    top_p: "number",
    top_logprobs: "number",
    frequency_penalty: "number",
    presence_penalty: "number",
  },
  conditional: { parallel_tool_calls: "tools", max_tool_calls: "tools", stream_options: "stream" },
  settings: { tool_choice: "tools", "reasoning/effort": "reasoning/effort" },
};
