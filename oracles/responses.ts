import type { Extension, Oracle } from "./providers.ts";
import type { Schema } from "./schema.ts";

/** The definitions that a provider's complete responses and stream events must match. */
export type ResponseOracle = Oracle & { readonly whole: string; readonly event: string };

const text: Schema = { type: "string" };
const optionalText: Schema = { type: ["string", "null"] };
const number: Schema = { type: "number" };
const flag: Schema = { type: "boolean" };
const list: Schema = { type: "array" };
const object: Schema = { type: "object" };
const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const orNull = (name: string): Schema => ({ anyOf: [ref(name), { type: "null" }] });

/** Adds fields the types lack, or have with fewer values. */
const also = (of: string, fields: { readonly [field: string]: Schema }, reason: string): readonly Extension[] =>
  Object.entries(fields).map(([field, schema]) => ({ field, of, schema, reason }));

/** Makes fields optional that the types require. */
const without = (of: string, fields: readonly string[], reason: string): readonly Extension[] =>
  fields.map((optional) => ({ optional, of, reason }));

const claude = (version: string): ResponseOracle => ({
  file: `anthropic-messages-answer.sdk-${version}.json`,
  whole: "Message",
  event: "RawMessageStreamEvent",
  extensions: [
    ...without("Message", ["container", "diagnostics"], "Live answers leave out what was not used."),
    ...without("RawMessageDeltaEvent.Delta", ["container"], "Live answers leave out what was not used."),
    ...without(
      "Usage",
      ["server_tool_use", "speed", "output_tokens_details"],
      "Live answers do not always count these.",
    ),
    ...without("MessageDeltaUsage", ["server_tool_use"], "Live answers do not always count these."),
    ...["TextBlock", "DocumentBlock"].flatMap((of) => without(of, ["citations"], "Left out where nothing is cited.")),
    ...["ServerToolUseBlock", "WebSearchToolResultBlock", "WebFetchToolResultBlock"].flatMap((of) =>
      without(of, ["caller"], "Live answers name the caller of a client's tool alone."),
    ),
    {
      alternative: "ping",
      of: "RawMessageStreamEvent",
      schema: {
        type: "object",
        properties: { type: { const: "ping" } },
        required: ["type"],
        additionalProperties: false,
      },
      reason: "Documented; the client swallows it, so its types do not have it.",
    },
  ],
});

const paddedEvents = [
  "MessageStartEvent",
  "ContentBlockStartEvent",
  "ContentBlockDeltaEvent",
  "ContentBlockStopEvent",
  "MessageStopEvent",
  "ConverseStreamMetadataEvent",
];

const bedrock: ResponseOracle = {
  file: "bedrock-converse-answer.aws-3.1162.0.json",
  whole: "ConverseResponse",
  event: "ConverseStreamOutput",
  extensions: [
    ...paddedEvents.flatMap((of) => also(of, { p: text }, "Padding, so that lengths tell nothing.")),
    ...also(
      "TokenUsage",
      { cacheReadInputTokenCount: number, cacheWriteInputTokenCount: number, serverToolUsage: object },
      "Live answers count these under two names each; the client drops the other.",
    ),
    ...["ToolUseBlock", "ToolUseBlockStart"].flatMap((of) =>
      also(of, { type: { enum: ["tool_use", "server_tool_use"] } }, "Live answers of Claude write the usual kind too."),
    ),
  ],
};

const gemini = (file: string, field: string): ResponseOracle => ({
  file,
  whole: "GenerateContentResponse",
  event: "GenerateContentResponse",
  extensions: [
    ...also(
      "GenerateContentResponse.UsageMetadata",
      { [field]: text },
      "Live answers have it; the published proto lags.",
    ),
    ...also("Candidate", { continuationToken: text }, "Since Gemini 4; @google/genai has it."),
    {
      alternative: "CONTINUATION",
      of: "Candidate.FinishReason",
      schema: { const: "CONTINUATION" },
      reason: "Since Gemini 4; @google/genai has it.",
    },
  ],
});

const image = "ResponseOutputItem.ImageGenerationCall";

const responses = (own: readonly Extension[]): ResponseOracle => ({
  file: "openai-responses-answer.openai-6.49.0.json",
  whole: "Response",
  event: "ResponseStreamEvent",
  extensions: [
    ...without("Response", ["output_text"], "The client adds it up itself; no server sends it."),
    ...also(
      "Response",
      { user: optionalText, store: flag },
      "Live answers repeat what was asked, and null for what was not.",
    ),
    ...without("ResponseFunctionCallArgumentsDoneEvent", ["name"], "Live streams leave it out."),
    ...without("ResponseFunctionWebSearch", ["action"], "Not known when the search begins."),
    ...without(image, ["result"], "Not there when the picture is begun."),
    ...also(
      image,
      { background: text, output_format: text, quality: text, size: text },
      "Live answers describe the picture.",
    ),
    ...also("ResponseError", { code: text }, "A prompt that is too long fails with context_length_exceeded."),
    ...own,
  ],
});

const openaiOwn: readonly Extension[] = [
  ...also(
    "Response",
    { frequency_penalty: number, presence_penalty: number, max_tool_calls: { type: ["number", "null"] } },
    "Live answers repeat what was asked, and null for what was not.",
  ),
  ...also("Response", { usage: orNull("ResponseUsage") }, "Null until the answer is complete."),
  ...[
    "ResponseTextDeltaEvent",
    "ResponseFunctionCallArgumentsDeltaEvent",
    "ResponseReasoningSummaryTextDeltaEvent",
    "ResponseRefusalDeltaEvent",
  ].flatMap((of) => also(of, { obfuscation: text }, "Padding, so that lengths tell nothing.")),
];

const chat = (own: readonly Extension[]): ResponseOracle => ({
  file: "openai-chat-answer.openai-6.49.0.json",
  whole: "ChatCompletion",
  event: "ChatCompletionChunk",
  extensions: own,
});

const delta = "ChatCompletionChunk.Choice.Delta";
const message = "ChatCompletionMessage";

const noLogprobs = without("ChatCompletion.Choice", ["logprobs"], "Left out where none were asked for.");
const noRefusal = without(message, ["refusal"], "This vendor knows no refusals.");
const thought = (field: string, reason: string): readonly Extension[] =>
  [delta, message].flatMap((of) => also(of, { [field]: optionalText }, reason));
const indexedCalls = also(
  "ChatCompletionMessageFunctionToolCall",
  { index: number },
  "Whole answers number the calls as streams do.",
);
const finishes = (schema: Schema, reason: string): readonly Extension[] =>
  ["ChatCompletion.Choice", "ChatCompletionChunk.Choice"].flatMap((of) => also(of, { finish_reason: schema }, reason));
const everywhere = (fields: { readonly [field: string]: Schema }, reason: string): readonly Extension[] =>
  ["ChatCompletion", "ChatCompletionChunk"].flatMap((of) => also(of, fields, reason));

const groq: ResponseOracle = {
  file: "groq-chat-answer.groq-1.6.0.json",
  whole: "ChatCompletion",
  event: "ChatCompletionChunk",
  extensions: [
    ...also("ChatCompletion", { usage_breakdown: orNull("ChatCompletion.UsageBreakdown") }, "Live answers say null."),
    ...without(message, ["content"], "Live answers that only call have none."),
    ...also(
      "ChatCompletionChunk",
      { usage: orNull("CompletionUsage") },
      "The last live event counts here and in x_groq.",
    ),
    ...also(delta, { channel: text }, "Live events of gpt-oss name the channel of a thought."),
    {
      alternative: "error",
      of: "ChatCompletionChunk",
      schema: { type: "object", properties: { error: object }, required: ["error"], additionalProperties: false },
      reason: "A call that cannot be parsed ends a live stream with an error.",
    },
  ],
};

const mistral: ResponseOracle = {
  file: "mistral-chat-answer.mistralai-2.7.0.json",
  whole: "ChatCompletionResponse",
  event: "CompletionChunk",
  extensions: [
    ...also("CompletionChunk", { p: text }, "Padding, so that lengths tell nothing."),
    ...also(
      "CompletionResponseStreamChoice",
      { finish_reason: { anyOf: [ref("ChatCompletionChoiceFinishReason"), { type: "null" }] } },
      "Whole answers know model_length; a stream ends the same way.",
    ),
  ],
};

const openrouter: ResponseOracle = {
  file: "openrouter-chat-answer.openrouter-1.3.19.json",
  whole: "ChatResult",
  event: "ChatStreamChunk",
  extensions: [
    ...["ChatResult", "ChatStreamChunk"].flatMap((of) =>
      also(of, { provider: text }, "Live answers name the upstream."),
    ),
    ...["ChatChoice", "ChatStreamChoice"].flatMap((of) =>
      also(of, { native_finish_reason: optionalText }, "Live answers keep the upstream's word."),
    ),
    ...also("ChatUsageCompletionTokensDetails", { image_tokens: number }, "Live answers count them."),
    ...also("ChatToolCall", { index: number }, "Live whole answers number the calls as streams do."),
    ...["ChatAssistantMessage", "ChatStreamDelta"].flatMap((of) =>
      also(of, { annotations: list }, "Live answers that searched say where."),
    ),
    ...also("ChatAssistantImages", { type: text, index: number }, "Documented; the client drops them."),
    ...also("ChatStreamDelta", { images: list }, "Documented; the client drops them."),
  ],
};

/** The types that check each provider's responses. Anthropic has two, by API version. */
export const responseOracles: { readonly [name: string]: ResponseOracle } = {
  anthropic: claude("0.137.0"),
  "anthropic-2026-10-21": claude("1.8.0"),
  bedrock,
  google: gemini("gemini-answer.generativelanguage-4.1.0.json", "serviceTier"),
  vertex: gemini("gemini-answer.aiplatform-7.4.0.json", "trafficType"),
  "code-assist": gemini("gemini-answer.aiplatform-7.4.0.json", "trafficType"),
  openai: responses([...openaiOwn, ...also("Response", { billing: object }, "Live whole answers have it.")]),
  azure: responses([
    ...openaiOwn,
    ...also("Response", { content_filters: { type: ["array", "null"] } }, "Azure tells what its filters found."),
  ]),
  xai: responses([
    ...without("Response", ["error", "instructions"], "Left out where there is nothing to say."),
    ...without("ResponseUsage.InputTokensDetails", ["cache_write_tokens"], "xAI's caches fill by themselves."),
    ...also(
      "ResponseUsage",
      { num_sources_used: number, num_server_side_tools_used: number },
      "xAI counts what its server looked at.",
    ),
  ]),
  "openai-chat": chat([
    ...also("ChatCompletionChunk", { obfuscation: text }, "Padding, so that lengths tell nothing."),
    ...also(delta, { annotations: list }, "Search models say where they looked, as in whole answers."),
  ]),
  groq,
  mistral,
  openrouter,
  kimi: chat([
    ...noLogprobs,
    ...noRefusal,
    ...thought("reasoning_content", "Moonshot's own client reads it."),
    ...also("ChatCompletionChunk.Choice", { usage: ref("CompletionUsage") }, "The last choice of a stream counts."),
    ...also("CompletionUsage", { cached_tokens: number }, "Documented beside the details OpenAI has."),
  ]),
  deepseek: chat([
    ...noRefusal,
    ...thought("reasoning_content", "Live answers think there."),
    ...indexedCalls,
    ...also(
      "CompletionUsage",
      { prompt_cache_hit_tokens: number, prompt_cache_miss_tokens: number },
      "Live answers count the cache this way.",
    ),
  ]),
  qwen: chat([
    ...noRefusal,
    ...thought("reasoning_content", "Documented for thinking models."),
    ...indexedCalls,
    ...everywhere({ system_fingerprint: optionalText }, "Documented answers say null."),
  ]),
  zai: chat([
    ...noLogprobs,
    ...noRefusal,
    ...thought("reasoning_content", "Live answers think there."),
    ...indexedCalls,
    ...also("ChatCompletion", { request_id: text }, "Live answers have it beside the id."),
    ...without("ChatCompletionChunk.Choice", ["finish_reason"], "Only the last event of a stream has one."),
    ...finishes(optionalText, "Documented: sensitive, and model_context_window_exceeded."),
  ]),
  minimax: chat([
    ...noLogprobs,
    ...noRefusal,
    ...thought("reasoning_content", "Documented under reasoning_split."),
    ...[delta, message].flatMap((of) =>
      also(of, { reasoning_details: list, name: text, audio_content: text }, "Documented; every message has a name."),
    ),
    ...indexedCalls,
    ...also("CompletionUsage", { total_characters: number }, "Documented; always 0 for words."),
    ...everywhere(
      { input_sensitive: flag, output_sensitive: flag, input_sensitive_type: number, output_sensitive_type: number },
      "Documented: what was found in the prompt and in the answer.",
    ),
    ...also("ChatCompletion", { base_resp: object }, "Documented: failures come with status 200 and a code here."),
  ]),
  cohere: chat([...noLogprobs, ...noRefusal]),
  local: chat([
    ...noLogprobs,
    ...noRefusal,
    ...thought("reasoning", "Ollama and vLLM write this name."),
    ...indexedCalls,
  ]),
};
