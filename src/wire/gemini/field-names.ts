/** An object of a body. */
export type GeminiFields = Record<string, unknown>;

/** Fields in camelCase, as documented, and in snake_case, as in the protocol buffers. */
const spellings = {
  systemInstruction: "system_instruction",
  toolConfig: "tool_config",
  generationConfig: "generation_config",
  functionCall: "function_call",
  functionResponse: "function_response",
  thoughtSignature: "thought_signature",
  inlineData: "inline_data",
  fileData: "file_data",
  executableCode: "executable_code",
  codeExecutionResult: "code_execution_result",
  mimeType: "mime_type",
  fileUri: "file_uri",
  displayName: "display_name",
  functionDeclarations: "function_declarations",
  parametersJsonSchema: "parameters_json_schema",
  functionCallingConfig: "function_calling_config",
  allowedFunctionNames: "allowed_function_names",
  maxOutputTokens: "max_output_tokens",
  thinkingConfig: "thinking_config",
  thinkingLevel: "thinking_level",
  thinkingBudget: "thinking_budget",
} as const;

type SpelledField = keyof typeof spellings;

/** Reads a field in either spelling. */
export const readField = (from: GeminiFields, name: SpelledField): unknown =>
  from[name] ?? from[spellings[name]] ?? undefined;

/** Returns both spellings of fields. */
export const bothSpellings = (...names: readonly SpelledField[]): readonly string[] =>
  names.flatMap((name) => [name, spellings[name]]);

type FieldPlace =
  | "envelope"
  | "request"
  | "content"
  | "words"
  | "call"
  | "callFields"
  | "result"
  | "resultFields"
  | "media"
  | "code"
  | "declaration"
  | "generation"
  | "thinking"
  | "toolConfig"
  | "calling";

/** The fields that are read, by object; all others are noted. */
export const knownFields: Readonly<Record<FieldPlace, readonly string[]>> = {
  envelope: ["model", "project", "user_prompt_id", "request"],
  request: [
    "model",
    "contents",
    "tools",
    "session_id",
    ...bothSpellings("systemInstruction", "toolConfig", "generationConfig"),
  ],
  content: ["role", "parts"],
  words: ["text", "thought", ...bothSpellings("thoughtSignature")],
  call: bothSpellings("functionCall", "thoughtSignature"),
  callFields: ["id", "name", "args"],
  result: bothSpellings("functionResponse"),
  resultFields: ["id", "name", "response", "parts"],
  media: bothSpellings("inlineData", "fileData"),
  code: bothSpellings("executableCode", "codeExecutionResult"),
  declaration: ["name", "description", "parameters", ...bothSpellings("parametersJsonSchema")],
  generation: ["temperature", ...bothSpellings("maxOutputTokens", "thinkingConfig")],
  thinking: bothSpellings("thinkingLevel", "thinkingBudget"),
  toolConfig: bothSpellings("functionCallingConfig"),
  calling: ["mode", ...bothSpellings("allowedFunctionNames")],
};

/** Returns the items of a list; a single item becomes a list of one. */
export const toList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
