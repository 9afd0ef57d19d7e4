import type { FieldTable } from "../provider-fields.ts";

/** Fields of this API that are carried over unchanged. */
export const anthropicFields: FieldTable = {
  carried: {
    stop_sequences: "list",
    metadata: "object",
    service_tier: "string",
    container: "any",
    context_management: "any",
    mcp_servers: "list",
    inference_geo: "string",
    speed: "string",
    output_format: "object",
    "output_config/format": "any",
    "output_config/task_budget": "object",
    cache_control: "object",
  },
  sampling: {
    top_p: "number",
    top_k: "number",
  },
  conditional: { "thinking/display": "thinking", "tool_choice/disable_parallel_tool_use": "tool_choice" },
  settings: {
    "tool_choice/type": "tools",
    "tool_choice/name": "tools",
    "thinking/type": "thinking/type",
    "thinking/budget_tokens": "thinking/budget_tokens",
    "output_config/effort": "output_config/effort",
  },
};
