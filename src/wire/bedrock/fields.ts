import type { FieldTable } from "../provider-fields.ts";

/** Fields of this API that are carried over unchanged; additional model request fields are not checked here. */
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
