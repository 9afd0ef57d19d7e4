import type { FieldTable } from "../provider-fields.ts";

/**
 * What servers of this family take besides what every conversation has. What names something on the server
 * (`previous_response_id`, `conversation`) is not among it: the conversation is written out whole.
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
