/** An object of a body, before its fields are known. */
export type Fields = Record<string, unknown>;

/** Fields of two words, in the spelling of the documentation and in that of the protocol buffers. */
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

type Spelled = keyof typeof spellings;

/** A field in either spelling. */
export const field = (from: Fields, name: Spelled): unknown => from[name] ?? from[spellings[name]] ?? undefined;

/** Both spellings of some fields. */
export const both = (...names: readonly Spelled[]): readonly string[] =>
  names.flatMap((name) => [name, spellings[name]]);

type Place =
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

/** What is carried over, by place; everything else is noted. */
export const known: Readonly<Record<Place, readonly string[]>> = {
  envelope: ["model", "project", "user_prompt_id", "request"],
  request: ["model", "contents", "tools", "session_id", ...both("systemInstruction", "toolConfig", "generationConfig")],
  content: ["role", "parts"],
  words: ["text", "thought", ...both("thoughtSignature")],
  call: both("functionCall", "thoughtSignature"),
  callFields: ["id", "name", "args"],
  result: both("functionResponse"),
  resultFields: ["id", "name", "response", "parts"],
  media: both("inlineData", "fileData"),
  code: both("executableCode", "codeExecutionResult"),
  declaration: ["name", "description", "parameters", ...both("parametersJsonSchema")],
  generation: ["temperature", ...both("maxOutputTokens", "thinkingConfig")],
  thinking: both("thinkingLevel", "thinkingBudget"),
  toolConfig: both("functionCallingConfig"),
  calling: ["mode", ...both("allowedFunctionNames")],
};

/** The items of a list; a lone item stands for a list of one. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
