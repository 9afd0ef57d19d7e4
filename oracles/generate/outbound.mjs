/**
 * The schema of an API's requests, from an SDK's `$Outbound` type. Those types include defaults the SDK fills in: such
 * fields look required, and a literal it always sends looks like any string.
 */
export function asAsked(sdk, schema) {
  const { defaults, literals } = adjustments[sdk];
  const relaxed = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "required" && Array.isArray(value) ? value.filter((name) => !defaults.includes(name)) : value,
  );
  for (const [name, literal] of Object.entries(literals)) {
    relaxed.definitions[name].properties.type = { type: "string", const: literal };
  }
  return relaxed;
}

const adjustments = {
  "@mistralai/mistralai": {
    // `prefix` is a default of assistant messages, `index` of tool calls, `block_on_error` of guardrails.
    defaults: ["stream", "prefix", "index", "block_on_error"],
    literals: { ToolCall$Outbound: "function", ToolChoice$Outbound: "function" },
  },
  "@openrouter/sdk": {
    defaults: ["stream"],
    literals: {
      ChatContentText$Outbound: "text",
      ChatToolCall$Outbound: "function",
      ChatFunctionToolFunction$Outbound: "function",
      ChatNamedToolChoice$Outbound: "function",
    },
  },
};
