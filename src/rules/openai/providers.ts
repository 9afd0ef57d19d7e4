import type { RuleTarget } from "../rule.ts";
import type { SchemaDialect } from "../schema/problems.ts";

/** The content parts a message may contain: a closed list, or `any` part that some vendor of the family knows. */
export type AllowedParts = readonly string[] | "any";

/** How one provider's Chat Completions endpoint differs from the family's others. */
export type ChatFacts = {
  /** Which vendor's wording its errors have. */
  readonly errorStyle: "openai" | "groq" | "mistral" | "deepseek" | "kimi" | "qwen" | "minimax" | "zai" | "local";
  /** Parts of a user message; other known parts are refused. */
  readonly user: AllowedParts;
  /** Parts of a tool message that are known to be accepted. */
  readonly tool: AllowedParts;
  /** True when other parts in a tool message are refused, false when it is unknown. */
  readonly toolPartsClosed: boolean;
  /** Parts of assistant and of system messages. */
  readonly assistant: AllowedParts;
  readonly system: AllowedParts;
  /** The `developer` role: supported, refused, or untested. */
  readonly developer: "own" | "refused" | "untested";
  /** Maximum length of a call id, where it is checked. */
  readonly callIdLimit?: number;
  /** The pattern of tool names; absent where they are not checked. */
  readonly toolName?: RegExp;
  /** A result without a call id is accepted and paired by position. */
  readonly resultsByOrder?: boolean;
  /** Kinds of `tool_choice` it accepts in addition to OpenAI's. */
  readonly choiceTypes?: readonly string[];
  /** Empty `tools` and `tool_calls` are answered with 400. */
  readonly emptyListsRefused: boolean;
  /** Arguments of earlier calls are parsed and must be a JSON object. */
  readonly argumentsParsed: boolean;
  /** The dialect of declared schemas, and the one for `strict: true`. */
  readonly schema?: SchemaDialect;
  readonly strictSchema?: SchemaDialect;
  /** Fields a message may have, by role; absent where unknown ones are ignored. */
  readonly messageFields?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Fields the request may have; absent where unknown ones are ignored. */
  readonly requestFields?: ReadonlySet<string>;
};

/**
 * The facts for the target's provider. No provider means OpenAI itself; a provider without an entry is treated like a
 * local server, which refuses least.
 */
export const chatFacts = (target: RuleTarget): ChatFacts => {
  const provider = target.provider ?? "openai-chat";
  if (provider === "deepseek" && /vision/i.test(target.model ?? "")) return deepseekVision;
  return chatProviders.get(provider) ?? local;
};

/** True when the target is OpenAI's own Chat endpoint or Azure's. */
export const isOpenaiChat = (target: RuleTarget): boolean =>
  target.provider === undefined || target.provider === "openai-chat" || target.provider === "azure";

const wordPattern = /^[a-zA-Z0-9_-]{1,64}$/;

const openai: ChatFacts = {
  errorStyle: "openai",
  user: ["text", "image_url", "input_audio", "file"],
  tool: ["text"],
  toolPartsClosed: true,
  assistant: ["text", "refusal"],
  system: ["text"],
  developer: "own",
  callIdLimit: 40,
  toolName: wordPattern,
  emptyListsRefused: true,
  argumentsParsed: false,
  schema: "openai",
  strictSchema: "openai-strict",
};

/** A vendor with an OpenAI-compatible endpoint and no other known facts. */
const compatible: ChatFacts = {
  errorStyle: "openai",
  user: "any",
  tool: ["text"],
  toolPartsClosed: false,
  assistant: "any",
  system: "any",
  developer: "untested",
  toolName: wordPattern,
  emptyListsRefused: false,
  argumentsParsed: false,
};

const local: ChatFacts = {
  errorStyle: "local",
  resultsByOrder: true,
  user: "any",
  tool: "any",
  toolPartsClosed: false,
  assistant: "any",
  system: "any",
  developer: "untested",
  emptyListsRefused: false,
  argumentsParsed: true,
};

const deepseek: ChatFacts = {
  ...compatible,
  errorStyle: "deepseek",
  user: ["text"],
  toolPartsClosed: true,
  assistant: ["text"],
  system: ["text"],
  developer: "refused",
  emptyListsRefused: true,
};

const deepseekVision: ChatFacts = {
  ...deepseek,
  user: ["text", "image_url", "file"],
  tool: ["text", "image_url", "file"],
};

const groqFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["system", new Set(["role", "content", "name"])],
  ["developer", new Set(["role", "content", "name"])],
  ["user", new Set(["role", "content", "name"])],
  ["assistant", new Set(["role", "content", "name", "tool_calls", "function_call", "reasoning"])],
  ["tool", new Set(["role", "content", "name", "tool_call_id"])],
]);

const mistralFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["system", new Set(["role", "content"])],
  ["user", new Set(["role", "content"])],
  ["assistant", new Set(["role", "content", "tool_calls", "prefix"])],
  ["tool", new Set(["role", "content", "name", "tool_call_id"])],
]);

const mistralRequest: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_tokens",
  "stream",
  "stop",
  "random_seed",
  "metadata",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "parallel_tool_calls",
  "prompt_mode",
  "prompt_cache_key",
  "reasoning_effort",
  "guardrails",
  "safe_prompt",
  "logprobs",
  "top_logprobs",
]);

const chatProviders: ReadonlyMap<string, ChatFacts> = new Map<string, ChatFacts>([
  ["openai-chat", openai],
  // Azure's Chat endpoint does not support the file part.
  ["azure", { ...openai, user: ["text", "image_url", "input_audio"], strictSchema: "azure-strict" }],
  ["xai", { ...compatible, developer: "refused", choiceTypes: ["tool"] }],
  [
    "groq",
    {
      ...compatible,
      errorStyle: "groq",
      user: ["text", "image_url"],
      tool: ["text", "document"],
      assistant: ["text"],
      system: ["text"],
      messageFields: groqFields,
    },
  ],
  ["openrouter", { ...compatible, tool: "any", developer: "own" }],
  [
    "kimi",
    {
      ...compatible,
      errorStyle: "kimi",
      user: ["text", "image_url", "video_url"],
      tool: ["text", "image_url", "video_url"],
      toolPartsClosed: true,
      // A name that begins with a digit is answered with 400.
      toolName: /^[a-zA-Z_$][a-zA-Z0-9_-]{0,63}$/,
      argumentsParsed: true,
      schema: "kimi",
    },
  ],
  [
    "mistral",
    {
      ...compatible,
      errorStyle: "mistral",
      user: ["text", "image_url", "document_url", "file", "input_audio", "reference", "thinking"],
      developer: "refused",
      argumentsParsed: true,
      schema: "mistral",
      messageFields: mistralFields,
      requestFields: mistralRequest,
    },
  ],
  ["deepseek", deepseek],
  ["qwen", { ...compatible, errorStyle: "qwen", argumentsParsed: true }],
  ["zai", { ...compatible, errorStyle: "zai", developer: "refused", resultsByOrder: true }],
  ["minimax", { ...compatible, errorStyle: "minimax", argumentsParsed: true }],
  ["cohere", { ...compatible, tool: ["text", "document"] }],
  ["local", local],
  ["offline", { ...local, developer: "own" }],
]);

/** How one provider's Responses endpoint differs from the family's others. */
export type ResponsesFacts = {
  /** Checks item ids, their prefixes and the order around reasoning as OpenAI does. */
  readonly checksItems: boolean;
  /** Parts a function call output may contain. */
  readonly output: AllowedParts;
  /** Files must be references; inline bytes are refused. */
  readonly filesByReference: boolean;
  /** Request fields it refuses. */
  readonly refusedFields: readonly string[];
  readonly schema?: SchemaDialect;
  readonly strictSchema?: SchemaDialect;
};

/**
 * The facts for the target's provider. No provider means OpenAI itself; a provider without an entry is not known to
 * check anything.
 */
export const responsesFacts = (target: RuleTarget): ResponsesFacts =>
  responsesProviders.get(target.provider ?? "openai") ?? unknownResponses;

/** True when the target is OpenAI's own Responses endpoint or Azure's. */
export const isOpenaiResponses = (target: RuleTarget): boolean =>
  target.provider === undefined || target.provider === "openai" || target.provider === "azure";

const openaiResponses: ResponsesFacts = {
  checksItems: true,
  output: ["input_text", "input_image", "input_file"],
  filesByReference: false,
  refusedFields: [],
  schema: "openai",
  strictSchema: "openai-strict",
};

const unknownResponses: ResponsesFacts = {
  checksItems: false,
  output: "any",
  filesByReference: false,
  refusedFields: [],
};

const responsesProviders: ReadonlyMap<string, ResponsesFacts> = new Map<string, ResponsesFacts>([
  ["openai", openaiResponses],
  ["azure", { ...openaiResponses, strictSchema: "azure-strict" }],
  ["openrouter", { ...unknownResponses, output: ["input_text", "input_image", "input_file"] }],
  [
    "xai",
    {
      ...unknownResponses,
      output: ["input_text", "input_image"],
      filesByReference: true,
      refusedFields: ["metadata"],
    },
  ],
  ["deepseek", { ...unknownResponses, output: ["input_text"] }],
]);
