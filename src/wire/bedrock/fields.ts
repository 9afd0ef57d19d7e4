import type { FieldTable } from "../provider-fields.ts";

/** What this API takes besides what every conversation has; what goes through to the model is the model's own affair. */
export const bedrockFields: FieldTable = {
  carried: {
    "inferenceConfig/stopSequences": "list",
    guardrailConfig: "object",
    performanceConfig: "object",
    requestMetadata: "object",
    promptVariables: "object",
    additionalModelResponseFieldPaths: "list",
    outputConfig: "object",
    serviceTier: "any",
    "additionalModelRequestFields/output_config/format": "any",
  },
  sampling: {
    "inferenceConfig/topP": "number",
    "additionalModelRequestFields/top_k": "number",
    "additionalModelRequestFields/inferenceConfig": "object",
  },
  conditional: { "additionalModelRequestFields/thinking/display": "additionalModelRequestFields/thinking" },
  settings: {
    "toolConfig/toolChoice": "toolConfig/toolChoice",
    "additionalModelRequestFields/thinking/type": "additionalModelRequestFields/thinking/type",
    "additionalModelRequestFields/thinking/budget_tokens": "additionalModelRequestFields/thinking/budget_tokens",
    "additionalModelRequestFields/output_config/effort": "additionalModelRequestFields/output_config/effort",
    "additionalModelRequestFields/reasoning_effort": "additionalModelRequestFields/reasoning_effort",
    "additionalModelRequestFields/reasoning_config": "additionalModelRequestFields/reasoning_config",
    "additionalModelRequestFields/reasoningConfig": "additionalModelRequestFields/reasoningConfig",
  },
};
