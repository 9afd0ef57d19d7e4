import { done, text } from "../../src/conversation/builders.ts";
import type { Conversation, ToolDeclaration } from "../../src/conversation/entry.ts";
import { isObject, type JsonObject } from "../../src/conversation/json.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import type { Seal } from "../../src/conversation/parts.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { Quirk } from "../../src/providers/quirks.ts";
import type { RequestSettings, WireId } from "../../src/wire/wire.ts";

/* What endpoints refuse, in their own words. First the requests, then the words, then the two together. */

const picture = storeBytes(new TextEncoder().encode("a picture"), { mimeType: "image/png" });
/** The value of every seal in that conversation. */
export const mark = "c2VhbGVkIGJ5IGl0cyBtYWtlcg==";

/** How the maker of each kind of message seals what it thought. */
const sealOf = (wire: WireId, name: string): Seal => {
  if (wire === "openai-responses") return { item: "rs_1", encrypted: mark };
  if (name === "openrouter") return { details: [{ type: "reasoning.text", text: "Hm.", signature: mark, index: 0 }] };
  return { signature: mark };
};

const look: ToolDeclaration = { name: "look", parameters: { type: "object", properties: {} } };

/** A conversation in which anything may go wrong: sealed thinking, a call, a picture in its result. */
export const pastConversation = (name: string, model: string): Conversation => {
  const provider = findProvider(name);
  const ledger = new Ledger();
  ledger.notice("The workspace is empty.");
  ledger.user([text("Look.")]);
  const seal = sealOf(provider.wire, name);
  const [made] = ledger.model({ provider: name, model }, [
    { type: "thinking", text: "Hm.", seal },
    {
      type: "call",
      tool: "look",
      input: { value: {} },
      seal: { id: "call_1", ...(provider.wire === "gemini" ? { signature: mark } : {}) },
    },
  ]);
  ledger.complete(made!.id, "look", done("Here.", picture.media));
  return { version: 1, tools: [look], entries: ledger.entries, blobs: { [picture.blob.hash]: picture.blob.base64 } };
};

/** Whether a request has these words anywhere. */
export const bodyIncludes =
  (words: string) =>
  (body: JsonObject): boolean =>
    JSON.stringify(body).includes(words);
/** Whether a request has this field, at its top or among its settings. */
export const bodyHasKey =
  (field: string) =>
  (body: JsonObject): boolean => {
    const { inferenceConfig, generationConfig } = body;
    return [body, inferenceConfig, generationConfig].some((place) => isObject(place) && field in place);
  };

const resultKeys = ["toolResult", "functionResponse"];
const resultTypes: readonly unknown[] = ["tool_result", "function_call_output"];

/** Whether a file stands within a result, in any family's way of writing one. */
const filesInResults = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(filesInResults);
  if (!isObject(value)) return false;
  const isResult =
    value["role"] === "tool" || resultTypes.includes(value["type"]) || resultKeys.some((key) => key in value);
  return isResult ? JSON.stringify(value).includes(picture.blob.base64) : Object.values(value).some(filesInResults);
};

/** Whether two messages of the user stand in a row. */
const userTwice = (body: JsonObject): boolean => {
  const roles = (Array.isArray(body["messages"]) ? body["messages"] : []).map((message) =>
    isObject(message) ? message["role"] : undefined,
  );
  return roles.some((role, at) => role === "user" && roles[at + 1] === "user");
};

const modelMessages = (body: JsonObject): readonly Record<string, unknown>[] =>
  (Array.isArray(body["messages"]) ? body["messages"] : []).filter(
    (message): message is Record<string, unknown> => isObject(message) && message["role"] === "assistant",
  );
const isReasoned = (message: Record<string, unknown>): boolean =>
  Object.keys(message).some((key) => key.startsWith("reasoning"));
const reasons = (body: JsonObject): boolean => modelMessages(body).some(isReasoned);
const lacksReasoning = (body: JsonObject): boolean =>
  modelMessages(body).some(({ reasoning_content: thought }) => thought === undefined || thought === "");

/** A refusal in OpenAI's envelope, which most have. */
export const openai = (message: string, param: string | null = null, code: string | null = null): unknown => ({
  error: { message, type: "invalid_request_error", param, code },
});
const anthropic = (message: string): unknown => ({
  type: "error",
  error: { type: "invalid_request_error", message },
  request_id: "req_1",
});
const google = (message: string): unknown => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
const amazon = (message: string): unknown => ({ message });
const framework = (...loc: readonly (string | number)[]): unknown => ({
  detail: [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted", input: "x" }],
});
const gateway = (raw: unknown): unknown => ({
  error: { message: "Provider returned error", code: 400, metadata: { raw: JSON.stringify(raw), provider_name: "x" } },
});

const invalidSignature = "messages.1.content.0: Invalid `signature` in `thinking` block";
const boundElsewhere = `${invalidSignature}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
const onlyUsers =
  "Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.";
/** As OpenAI says it of its models that reason. */
export const noTemperature: unknown = openai(
  "Unsupported parameter: 'temperature' is not supported with this model.",
  "temperature",
);
/** As OpenAI says it of its newer models. */
export const useCompletionTokens: unknown = openai(
  "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
);
const belowMinimum = "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.";
const notPdf = "The file type you uploaded is not supported. Please try again with a pdf";
const onlyPictures = "Invalid 'messages[3]'. Content blocks are expected to be either text or image_url type.";
const noDeveloper = "Unsupported value: 'messages[0].role' does not support 'developer' with this model.";
const noResponse =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_X";
const noResult =
  "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
const unequal =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
/** As OpenAI says it of thinking it sealed itself. */
export const unreadable: string =
  "The encrypted content gAAA...Qw== could not be verified. Reason: Encrypted content could not be decrypted or parsed.";

/** A refusal that comes when the answer has already begun to stream. */
export const lateRefusal: string = `event: error\ndata: ${JSON.stringify({ type: "error", code: "invalid_encrypted_content", message: unreadable, param: null, sequence_number: 0 })}\n\n`;

/** A lesson: who teaches it, what they refuse, and in which words. */
export type QuirkCase = {
  readonly quirk: Quirk;
  readonly to: string;
  readonly isWrong: (body: JsonObject) => boolean;
  readonly said: unknown;
  readonly status: number;
  /** Request settings; default: the usual ones. */
  readonly settings?: RequestSettings;
};

const quirkCase = (
  quirk: Quirk,
  to: string,
  isWrong: (body: JsonObject) => boolean,
  said: unknown,
  status = 400,
): QuirkCase => ({ quirk, to, isWrong, said, status });

/** A lesson for requests that ask for thinking. */
const effortLesson = (quirk: Quirk, to: string, isWrong: (body: JsonObject) => boolean, said: unknown): QuirkCase => ({
  ...quirkCase(quirk, to, isWrong, said),
  settings: { stream: true, thinking: { effort: "high" } },
});

/** A lesson for requests that ask for thoughts. */
const thoughtLesson = (to: string, word: string, said: unknown): QuirkCase => ({
  ...quirkCase("no-thought-summaries", to, bodyIncludes(word), said),
  settings: { stream: true, thoughts: true },
});

const asksEffort = (body: JsonObject): boolean =>
  bodyHasKey("reasoning_effort")(body) || (isObject(body["reasoning"]) && "effort" in body["reasoning"]);
const thinksWithTools = (body: JsonObject): boolean => body["reasoning_effort"] !== "none";
const toolsWithEffort = (advice: string): unknown =>
  openai(
    `Function tools with reasoning_effort are not supported for gpt-5.2 in /v1/chat/completions. ${advice}`,
    "reasoning_effort",
  );

/** A lesson for requests that leave the length of the answer to us. */
const lengthLesson = (to: string, said: unknown): QuirkCase => ({
  ...quirkCase("short-answers", to, (body) => Number(body["max_tokens"]) > 8192, said),
  settings: { stream: true },
});

/** All that can be learned, as vendors teach it. */
export const quirkCases: readonly QuirkCase[] = [
  quirkCase("unsealed", "openai", bodyIncludes(mark), openai(unreadable, null, "invalid_encrypted_content")),
  quirkCase("unsealed", "azure", bodyIncludes(mark), openai("It is not valid.", null, "invalid_encrypted_content")),
  quirkCase(
    "unsealed",
    "openai",
    bodyIncludes(mark),
    openai("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."),
  ),
  quirkCase(
    "unsealed",
    "openai",
    bodyIncludes(mark),
    openai("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
  ),
  quirkCase(
    "unsealed",
    "openai",
    bodyIncludes(mark),
    openai(
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    ),
    404,
  ),
  quirkCase("unsealed", "xai", bodyIncludes(mark), {
    code: "invalid-argument",
    error:
      "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.",
  }),
  quirkCase("unsealed", "xai", bodyIncludes(mark), {
    error: "Could not decode the compaction blob. Ensure it is unmodified from the compact response.",
  }),
  quirkCase("unsealed", "anthropic", bodyIncludes(mark), anthropic(invalidSignature)),
  quirkCase(
    "unsealed",
    "anthropic",
    bodyIncludes(mark),
    anthropic("messages.1.content.0.thinking.signature: Field required"),
  ),
  quirkCase("unsealed", "anthropic/claude-fable-5-1", bodyIncludes(mark), anthropic(boundElsewhere)),
  quirkCase(
    "unsealed",
    "anthropic",
    bodyIncludes(mark),
    anthropic(
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    ),
  ),
  quirkCase(
    "unsealed",
    "bedrock",
    bodyIncludes(mark),
    amazon(`The model returned the following errors: ${invalidSignature}`),
  ),
  quirkCase(
    "unsealed",
    "bedrock",
    bodyIncludes(mark),
    amazon(
      "This model doesn't support the reasoningContent.reasoningText.signature field. Remove signature and try again.",
    ),
  ),
  quirkCase("unsealed", "google", bodyIncludes(mark), google("Invalid thought signature")),
  quirkCase(
    "unsealed",
    "google",
    bodyIncludes(mark),
    google(`Invalid value at 'contents[2].parts[1].thought_signature' (TYPE_BYTES), Base64 decoding failed for "L4aN`),
  ),
  quirkCase("unsealed", "vertex", bodyIncludes(mark), google("Corrupted thought signature.")),
  quirkCase("unsealed", "code-assist", bodyIncludes(mark), google("Corrupted thought signature.")),
  quirkCase("unsealed", "openrouter", bodyIncludes(mark), gateway(anthropic(invalidSignature))),
  quirkCase("media-after", "openrouter", filesInResults, openai(onlyUsers, "messages[3]", "invalid_value")),
  quirkCase("media-after", "openrouter", filesInResults, gateway(openai(onlyUsers))),
  quirkCase(
    "media-after",
    "kimi",
    filesInResults,
    openai(
      "'messages.3' : for 'role:tool' the following must be satisfied[('messages.3.content' : one of the following must be satisfied[('messages.3.content' : value must be a string) OR ('messages.3.content' : minimum number of items is 1)])]",
    ),
  ),
  quirkCase(
    "media-after",
    "google",
    filesInResults,
    google("Unable to submit request because the mime_type: image/png is not supported in function_response.parts"),
  ),
  quirkCase(
    "media-after",
    "bedrock",
    filesInResults,
    amazon(
      "The model returned the following errors: Malformed input request: #/messages/2/content/0: extraneous key [toolResult] is not permitted, please reformat your input and try again.",
    ),
  ),
  quirkCase(
    "media-after",
    "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0",
    filesInResults,
    amazon(
      "This model doesn't support the image content block that you provided. Update the content block and try again.",
    ),
  ),
  quirkCase(
    "alternate-roles",
    "openrouter/anthropic/claude-3.5-sonnet",
    userTwice,
    gateway(
      amazon(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      ),
    ),
  ),
  quirkCase(
    "alternate-roles",
    "anthropic",
    userTwice,
    anthropic(
      'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    ),
  ),
  quirkCase(
    "alternate-roles",
    "local",
    userTwice,
    openai("Conversation roles must alternate user/assistant/user/assistant/..."),
  ),
  quirkCase(
    "alternate-roles",
    "local/sonar",
    userTwice,
    openai(
      "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).",
      null,
      "invalid_message",
    ),
  ),
  quirkCase(
    "alternate-roles",
    "deepseek/deepseek-reasoner",
    userTwice,
    openai(
      "deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2] in your input). You should interleave the user/assistant messages in the message sequence.",
    ),
  ),
  quirkCase(
    "no-reasoning",
    "zai",
    reasons,
    openai(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
  ),
  quirkCase(
    "no-reasoning",
    "deepseek",
    reasons,
    framework("body", "messages", 1, "assistant", "reasoning_content"),
    422,
  ),
  quirkCase(
    "no-reasoning",
    "openrouter",
    reasons,
    openai("messages.1.reasoning_details: Extra inputs are not permitted"),
  ),
  quirkCase(
    "no-reasoning",
    "kimi",
    reasons,
    openai("Unknown parameter: 'messages[1].reasoning_content'.", "messages[1].reasoning_content", "unknown_parameter"),
  ),
  quirkCase(
    "reasoning-demanded",
    "local",
    lacksReasoning,
    openai("The reasoning_content in the thinking mode must be passed back to the API."),
  ),
  quirkCase(
    "reasoning-demanded",
    "local",
    lacksReasoning,
    openai("Missing `reasoning_content` field in the assistant message at message index 2."),
  ),
  quirkCase(
    "reasoning-demanded",
    "qwen",
    lacksReasoning,
    openai("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
  ),
  effortLesson(
    "no-effort-with-tools",
    "openai-chat/gpt-5.2",
    asksEffort,
    toolsWithEffort("Please use /v1/responses instead."),
  ),
  effortLesson(
    "effort-none-with-tools",
    "openai-chat/gpt-5.2",
    thinksWithTools,
    toolsWithEffort("To use function tools, use /v1/responses or set reasoning_effort to 'none'."),
  ),
  effortLesson("no-effort", "xai", asksEffort, {
    code: "Client specified an invalid argument",
    error: "Model grok-4.5 does not support parameter reasoningEffort.",
  }),
  effortLesson(
    "no-effort",
    "openai",
    asksEffort,
    openai(
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      "reasoning.effort",
      "unsupported_parameter",
    ),
  ),
  effortLesson(
    "no-effort",
    "openai-chat/gpt-5.3-chat-latest",
    asksEffort,
    openai(
      "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low'.",
      "reasoning_effort",
      "unsupported_value",
    ),
  ),
  effortLesson(
    "no-effort",
    "groq",
    asksEffort,
    openai("`reasoning_effort` must be one of `none`, `default`", null, "invalid_request_error"),
  ),
  quirkCase(
    "max-completion-tokens",
    "local",
    bodyHasKey("max_tokens"),
    openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    ),
  ),
  quirkCase(
    "max-tokens",
    "openai-chat",
    bodyHasKey("max_completion_tokens"),
    openai("Unrecognized request argument supplied: max_completion_tokens"),
  ),
  quirkCase("max-tokens", "groq", bodyHasKey("max_completion_tokens"), framework("body", "max_completion_tokens"), 422),
  quirkCase(
    "no-stream-options",
    "openai-chat",
    bodyHasKey("stream_options"),
    openai("Unrecognized request argument supplied: stream_options"),
  ),
  quirkCase("no-stream-options", "local", bodyHasKey("stream_options"), framework("body", "stream_options"), 422),
  quirkCase(
    "no-sampling",
    "xai",
    bodyHasKey("temperature"),
    openai(
      "Unsupported parameter: 'temperature' is not supported with this model.",
      "temperature",
      "unsupported_parameter",
    ),
  ),
  quirkCase(
    "no-sampling",
    "openrouter",
    bodyHasKey("temperature"),
    openai(
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "temperature",
      "unsupported_value",
    ),
  ),
  quirkCase(
    "no-sampling",
    "anthropic/claude-haiku-4-5",
    bodyHasKey("temperature"),
    anthropic("`temperature` is deprecated for this model."),
  ),
  quirkCase(
    "no-sampling",
    "bedrock/global.xai.grok-4.6",
    bodyHasKey("temperature"),
    amazon("This model doesn't support the temperature field. Remove temperature and try again."),
  ),
  quirkCase(
    "no-sampling",
    "google/gemini-2.5-flash",
    bodyHasKey("temperature"),
    google("temperature is not supported for this model."),
  ),
  quirkCase(
    "no-sampling",
    "kimi",
    bodyHasKey("temperature"),
    openai("invalid temperature: only 1 is allowed for this model"),
  ),
  quirkCase("no-sampling", "local", bodyHasKey("temperature"), framework("body", "temperature"), 422),
  lengthLesson(
    "anthropic/claude-next",
    anthropic("max_tokens: 128000 > 8192, which is the maximum allowed number of output tokens for claude-next"),
  ),
  lengthLesson(
    "anthropic/claude-sonnet-4-5",
    anthropic(
      "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length or `max_tokens` and try again",
    ),
  ),
  thoughtLesson(
    "openai",
    '"summary":"auto"',
    openai(
      "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.",
      "reasoning.summary",
      "unsupported_value",
    ),
  ),
  thoughtLesson(
    "azure",
    '"summary":"auto"',
    openai(
      "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
      "reasoning.summary",
      "unsupported_parameter",
    ),
  ),
  thoughtLesson("google/gemini-3-exp", "includeThoughts", google("Thinking is not enabled for models/gemini-3-exp")),
  thoughtLesson(
    "vertex",
    "includeThoughts",
    google(
      "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.",
    ),
  ),
  thoughtLesson("anthropic", '"display"', anthropic("thinking.adaptive.display: Extra inputs are not permitted")),
  thoughtLesson(
    "bedrock",
    '"display"',
    amazon("The model returned the following errors: thinking.adaptive.display: Extra inputs are not permitted"),
  ),
];

/** Refusals that teach nothing, as servers really say them: the request was wrong, not our idea of the endpoint. */
export const unknownErrors: readonly { readonly to: string; readonly said: unknown }[] = [
  { to: "openai/gpt-4o", said: openai(belowMinimum, "temperature", "decimal_below_min_value") },
  { to: "openai", said: openai(notPdf, "input", "unsupported_file") },
  { to: "openai", said: openai("The requested model 'gpt-5.2-proo' does not exist.", "model", "model_not_found") },
  { to: "openai", said: openai("No tool output found for function call call_X.", "input") },
  { to: "local", said: openai(onlyPictures, "messages[3]", "invalid_value") },
  { to: "local", said: openai(noDeveloper, "messages[0].role", "unsupported_value") },
  { to: "local", said: openai("Web search options not supported with this model.", "web_search_options") },
  { to: "openrouter", said: openai(noResponse, "messages.[3].role") },
  { to: "kimi", said: openai("Invalid request: tool_call_id  is not found") },
  { to: "anthropic/claude-haiku-4-5", said: anthropic("This model does not support effort level 'xhigh'.") },
  { to: "anthropic", said: anthropic(noResult) },
  { to: "bedrock", said: amazon("The provided model identifier is invalid.") },
  {
    to: "bedrock",
    said: amazon("Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1"),
  },
  { to: "google", said: google(unequal) },
];
