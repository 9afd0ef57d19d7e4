import type { Schema } from "./schema.ts";

/** The name of a request type, for `checkBody`. */
export type OracleName =
  | "anthropic-messages-2026-10-21"
  | "anthropic-messages-2023-06-01"
  | "bedrock-converse"
  | "gemini"
  | "vertex"
  | "code-assist-request"
  | "openai-responses"
  | "openai-chat"
  | "groq-chat"
  | "mistral-chat"
  | "openrouter-chat"
  | "kimi-chat"
  | "deepseek-chat"
  | "zai-chat"
  | "qwen-chat"
  | "minimax-chat"
  | "local-chat";

/** A field or value that a provider supports beyond its schema's types, with the reason. */
export type Extension =
  | { readonly field: string; readonly of: string; readonly schema: Schema; readonly reason: string }
  | { readonly alternative: string; readonly of: string; readonly schema: Schema; readonly reason: string }
  | { readonly optional: string; readonly of: string; readonly reason: string };

/** A request type: the file made from the vendor's SDK, widened where the provider is not that vendor. */
export type Oracle = { readonly file: string; readonly extensions: readonly Extension[] };

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const integer: Schema = { type: "integer" };
const optionalText: Schema = { type: ["string", "null"] };
const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const object = (properties: { readonly [name: string]: Schema }, ...required: readonly string[]): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const assistant = (field: string, schema: Schema, reason: string): Extension => ({
  field,
  of: "ChatCompletionAssistantMessageParam",
  schema,
  reason,
});
const request = (field: string, schema: Schema, reason: string): Extension => ({
  field,
  of: "ChatCompletionCreateParamsBase",
  schema,
  reason,
});

const reasoningContent = (reason: string): Extension => assistant("reasoning_content", optionalText, reason);

const videoUrl = object({ type: { const: "video_url" }, video_url: object({ url: text }, "url") }, "type", "video_url");
const videoPart = (reason: string): Extension => ({
  alternative: "video_url",
  of: "ChatCompletionContentPart",
  schema: videoUrl,
  reason,
});

/** OpenAI's tool message accepts text parts only. */
const toolContent = (parts: readonly Schema[], reason: string): Extension => ({
  field: "content",
  of: "ChatCompletionToolMessageParam",
  schema: { anyOf: [text, { type: "array", items: { anyOf: [ref("ChatCompletionContentPartText"), ...parts] } }] },
  reason,
});

const thinking = (properties: { readonly [name: string]: Schema }, reason: string): Extension =>
  request("thinking", object({ type: { enum: ["enabled", "disabled"] }, ...properties }), reason);

const openaiChat = "openai-chat.openai-6.49.0.json";
const openaiResponses = "openai-responses.openai-6.49.0.json";
const vertex = "gemini.aiplatform-7.4.0.json";

/** Every request type we can check, by name. */
export const oracles: { readonly [name in OracleName]: Oracle } = {
  "anthropic-messages-2026-10-21": { file: "anthropic-messages.sdk-1.8.0.json", extensions: [] },
  "anthropic-messages-2023-06-01": { file: "anthropic-messages.sdk-0.137.0.json", extensions: [] },
  "bedrock-converse": { file: "bedrock-converse.aws-3.1162.0.json", extensions: [] },
  gemini: { file: "gemini.generativelanguage-4.1.0.json", extensions: [] },
  vertex: { file: vertex, extensions: [] },
  "code-assist-request": {
    file: vertex,
    extensions: [
      {
        field: "session_id",
        of: "GenerateContentRequest",
        schema: text,
        reason: "gemini-cli puts it in the inner request; the rest of that request is Vertex's.",
      },
    ],
  },
  "openai-responses": { file: openaiResponses, extensions: [] },
  "openai-chat": { file: openaiChat, extensions: [] },
  "groq-chat": { file: "groq-chat.groq-1.6.0.json", extensions: [] },
  "mistral-chat": { file: "mistral-chat.mistralai-2.7.0.json", extensions: [] },
  "openrouter-chat": {
    file: "openrouter-chat.openrouter-1.3.19.json",
    extensions: [
      ...Object.entries({ enabled: flag, exclude: flag, max_tokens: integer }).map(([field, schema]) => ({
        field,
        of: "ChatRequestReasoning",
        schema,
        reason: "Documented with effort; the SDK's chat type has effort and summary only.",
      })),
      ...["ChatContentImage", "ChatContentFile"].map((of) => ({
        field: "cache_control",
        of,
        schema: { $ref: "#/definitions/ChatContentCacheControl" },
        reason: "Taken on every part and converted for the upstream; the SDK types it on text only.",
      })),
    ],
  },
  "kimi-chat": {
    file: openaiChat,
    extensions: [
      reasoningContent("Required on tool-call turns while thinking is on; Moonshot's own client sends it."),
      videoPart("Moonshot's client sends data: and ms:// videos in user messages."),
      toolContent(
        [ref("ChatCompletionContentPartImage"), videoUrl],
        "Moonshot's client puts images and videos into tool messages.",
      ),
      thinking({ keep: text }, 'Turns thinking on or off; keep:"all" keeps the thinking of old turns.'),
      {
        alternative: "builtin_function",
        of: "ChatCompletionTool",
        schema: object(
          { type: { const: "builtin_function" }, function: object({ name: text }, "name") },
          "type",
          "function",
        ),
        reason: "Moonshot's server-side tools, such as $web_search.",
      },
    ],
  },
  "deepseek-chat": {
    file: openaiChat,
    extensions: [
      reasoningContent("Must be passed back after tool calls in thinking mode, by its documentation."),
      toolContent(
        [ref("ChatCompletionContentPartImage"), object({ type: { const: "file" }, file_id: text }, "type", "file_id")],
        "Vision models take images in tool messages; a file part is flat there.",
      ),
      thinking({}, "Turns thinking on or off."),
    ],
  },
  "zai-chat": {
    file: openaiChat,
    extensions: [
      reasoningContent("Should be returned complete and unchanged in tool loops, by its documentation."),
      thinking(
        { clear_thinking: flag },
        "Turns thinking on or off; clear_thinking:false keeps the thinking of old turns.",
      ),
      request("tool_stream", flag, "Streams tool arguments instead of sending them in one piece."),
    ],
  },
  "qwen-chat": {
    file: openaiChat,
    extensions: [
      {
        field: "cache_control",
        of: "ChatCompletionContentPartText",
        schema: object({ type: { const: "ephemeral" } }, "type"),
        reason: "Explicit cache marks on text parts, tool messages included.",
      },
      request("enable_thinking", flag, "Turns thinking on or off."),
      request("thinking_budget", integer, "Bounds thinking in tokens."),
    ],
  },
  "minimax-chat": {
    file: openaiChat,
    extensions: [
      assistant(
        "reasoning_details",
        { type: "array", items: { type: "object" } },
        "Answers carry it under reasoning_split and are returned whole.",
      ),
      request("reasoning_split", flag, "Puts thinking into reasoning_details instead of into the text."),
    ],
  },
  "local-chat": {
    file: openaiChat,
    extensions: [
      assistant("reasoning", optionalText, "Ollama and vLLM read and write this name."),
      reasoningContent("llama.cpp and older vLLM read and write this name."),
      videoPart("vLLM parses video_url parts where the model's template renders them."),
      toolContent(
        [ref("ChatCompletionContentPartImage"), ref("ChatCompletionContentPartInputAudio"), videoUrl],
        "llama.cpp and vLLM parse media in messages of any role.",
      ),
      request("chat_template_kwargs", { type: "object" }, "llama.cpp and vLLM hand it to the chat template."),
    ],
  },
};

/** All request types, in the order of the table. */
export const oracleNames: readonly OracleName[] = Object.keys(oracles) as OracleName[];
