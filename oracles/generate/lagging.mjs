import { readFileSync } from "node:fs";

const geminiApi = "@google-ai/generativelanguage";
const vertex = "@google-cloud/aiplatform";

const text = { type: "string" };
const openObject = { type: "object" };
const oneOf = (...values) => ({ type: "string", enum: values });

/**
 * Fields the REST APIs have and the published protos do not yet. `sdk` names the same field in @google/genai: the
 * generator stops when the SDK lacks it, or when the proto has it, so that obsolete entries are removed.
 */
const fields = [
  {
    apis: { [geminiApi]: "ThinkingConfig", [vertex]: "GenerationConfig.ThinkingConfig" },
    field: "thinkingLevel",
    schema: oneOf("MINIMAL", "LOW", "MEDIUM", "HIGH", "minimal", "low", "medium", "high"),
    sdk: "ThinkingConfig",
    reason: "How thinking is set since Gemini 3. Both cases are read: the guides write it small, the SDK in capitals.",
  },
  {
    apis: { [geminiApi]: "ImageConfig", [vertex]: "ImageConfig" },
    field: "imageSize",
    schema: text,
    sdk: "ImageConfig",
    reason: "Output size of the Gemini 3 image models.",
  },
  {
    apis: { [geminiApi]: "Part", [vertex]: "Part" },
    field: "mediaResolution",
    schema: {
      type: "object",
      properties: { level: text, numTokens: { type: "integer" } },
      additionalProperties: false,
    },
    sdk: "Part",
    reason: "Resolution of one part, beside its data.",
  },
  {
    apis: { [geminiApi]: "GenerateContentRequest", [vertex]: "GenerateContentRequest" },
    field: "continuationToken",
    schema: text,
    sdk: "GenerateContentConfig",
    reason: "Resent after finishReason CONTINUATION (Gemini 4).",
  },
  {
    apis: { [geminiApi]: "GenerateContentRequest", [vertex]: "GenerateContentRequest" },
    field: "serviceTier",
    schema: text,
    sdk: "GenerateContentConfig",
    reason: "Price and priority of one request.",
  },
  {
    apis: { [geminiApi]: "Part" },
    field: "toolCall",
    oneof: "text",
    schema: {
      type: "object",
      properties: { id: text, toolType: text, args: openObject },
      additionalProperties: false,
    },
    sdk: "Part",
    reason: "Trace of a server-side tool, echoed unchanged. The SDK refuses it for Vertex.",
  },
  {
    apis: { [geminiApi]: "Part" },
    field: "toolResponse",
    oneof: "text",
    schema: {
      type: "object",
      properties: { id: text, toolType: text, response: openObject },
      additionalProperties: false,
    },
    sdk: "Part",
    reason: "The other half of toolCall.",
  },
  {
    apis: { [geminiApi]: "ToolConfig" },
    field: "includeServerSideToolInvocations",
    schema: { type: "boolean" },
    sdk: "ToolConfig",
    reason: "Asks for toolCall and toolResponse parts. The SDK refuses it for Vertex.",
  },
  {
    apis: { [geminiApi]: "FileSearch" },
    field: "fileSearchStoreNames",
    schema: { type: "array", items: text },
    sdk: "FileSearch",
    reason: "What retrievalResources became.",
  },
  {
    apis: { [geminiApi]: "ExecutableCode" },
    field: "id",
    schema: text,
    sdk: "ExecutableCode",
    reason: "Pairs code with its result; answers carry it and it is echoed.",
  },
  {
    apis: { [geminiApi]: "CodeExecutionResult" },
    field: "id",
    schema: text,
    sdk: "CodeExecutionResult",
    reason: "The other half of ExecutableCode.id.",
  },
  {
    apis: { [vertex]: "ImageConfig" },
    field: "imageOutputOptions",
    schema: openObject,
    sdk: "ImageConfig",
    reason: "Format of generated images. The SDK refuses it for the Gemini API.",
  },
  {
    apis: { [vertex]: "Blob" },
    field: "displayName",
    schema: text,
    sdk: "Blob_2",
    reason: "Vertex documents it; the Gemini API message has no such field.",
  },
  {
    apis: { [vertex]: "FileData" },
    field: "displayName",
    schema: text,
    sdk: "FileData",
    reason: "As for Blob.",
  },
  {
    apis: { [vertex]: "VideoMetadata" },
    field: "fps",
    schema: { type: "number" },
    sdk: "VideoMetadata",
    reason: "The Gemini API proto has it.",
  },
];

/** The additions to the schema of one package's protos. */
export function lagging(proto) {
  const types = readFileSync(new URL("../node_modules/@google/genai/dist/genai.d.ts", import.meta.url), "utf8");
  return fields
    .filter(({ apis }) => proto in apis)
    .map(({ apis, sdk, ...rest }) => {
      if (!declares(types, sdk, rest.field)) throw new Error(`@google/genai has no ${sdk}.${rest.field}`);
      return { of: apis[proto], ...rest };
    });
}

function declares(types, name, field) {
  const body = new RegExp(`declare (?:interface|class) ${name}\\b[^{]*{(.*?)\\n}`, "s").exec(types)?.[1] ?? "";
  return new RegExp(`^ {4}${field}\\?:`, "m").test(body);
}
