import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated } from "./compatible.ts";
import { defineErrors } from "../errors.ts";
import { createdSeconds, pseudoRandomHex, pseudoRandomLetters } from "../ids.ts";
import type { ChatSimRequest, ChatErrors, ChatQuirks } from "../quirks.ts";
import { upstreamOfMessage, upstreamName, upstreamOf } from "../upstream.ts";
import { plainUsage } from "../usage.ts";

/** Usage with audio and video tokens, Anthropic's cache writes, and cost. */
const usage = (counts: SimUsage, request: ChatSimRequest): Json => {
  const [prompt, completion] = [counts.input * 3, counts.output * 15];
  return {
    ...plainUsage(counts),
    cost: dollars(prompt + completion),
    is_byok: false,
    prompt_tokens_details: {
      cached_tokens: counts.cachedRead,
      cache_write_tokens: upstreamOf(request.model) === "anthropic" ? counts.cachedWrite : 0,
      audio_tokens: counts.inputBy.audio ?? 0,
      video_tokens: counts.inputBy.video ?? 0,
    },
    cost_details: {
      upstream_inference_cost: dollars(prompt + completion),
      upstream_inference_prompt_cost: dollars(prompt),
      upstream_inference_completions_cost: dollars(completion),
    },
    completion_tokens_details: { reasoning_tokens: counts.reasoning, image_tokens: 0, audio_tokens: 0 },
  };
};

const dollars = (millionths: number): number => millionths / 1_000_000;

/** The status as code, and the upstream's own error in the metadata. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "No auth credentials found",
    "wrong-key": "User not found.",
    "no-model": "{model} is not a valid model ID",
    "no-route": "Not Found",
    "not-json": "Invalid JSON body: {error}",
    context:
      'This endpoint\'s maximum context length is {limit} tokens. However, you requested about {tokens} tokens ({tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
  },
  statuses: { "no-model": 400 },
  body: ({ message, status: code, pointer, check }) => {
    const raw = JSON.stringify({ error: { message, type: "invalid_request_error" } });
    const metadata = { raw, provider_name: upstreamOfMessage(message), is_byok: false };
    const isUpstream = pointer.includes("/reasoning_details/");
    return {
      error: isUpstream ? { message: "Provider returned error", code, metadata } : { message, code },
      ...(check === "no-key" || check === "wrong-key" ? {} : { user_id: "user_2zsimulated" }),
    };
  },
});

/** Call ids have the upstream's format. */
const callId: ChatQuirks["callId"] = ({ index, tool }, request) => {
  const purpose = `call ${index}`;
  switch (upstreamOf(request.model)) {
    case "anthropic":
      return `toolu_01${pseudoRandomLetters(request, purpose, 22)}`;
    case "openai":
      return `call_${pseudoRandomLetters(request, purpose, 24)}`;
    case "google":
      return `tool_${index}_${tool}_${pseudoRandomLetters(request, purpose, 20)}`;
    case "other":
      return `chatcmpl-tool-${pseudoRandomHex(request, purpose, 16)}`;
  }
};

/** Models without file input at any upstream. */
const textOnlyModels =
  /^(deepseek\/(?!.*vision)|openai\/gpt-oss|z-ai\/glm-[\d.]+(?!\d*v)(-|$)|minimax\/minimax-m[12]|moonshotai\/kimi-k2(-|$)|qwen\/qwen3-(max|coder|next|\d+b))/;

const model = (
  id: string,
  context: number,
  maxOutput = 64_000,
): { id: string; context: number; maxOutput: number } => ({
  id,
  context,
  maxOutput,
});

/** OpenRouter. Responses and errors have its own format; reasoning is sealed by the upstream. */
export const openrouterServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "openrouter",
  host: /^openrouter\.ai$/,
  base: "/api/v1",
  models: [
    model("anthropic/claude-sonnet-5", 1_000_000),
    model("anthropic/claude-opus-5.5", 1_000_000),
    model("anthropic/claude-fable-5.1", 1_000_000),
    model("anthropic/claude-sonnet-4.5", 1_000_000),
    model("openai/gpt-5.6", 1_050_000, 128_000),
    model("openai/gpt-oss-120b", 131_072),
    model("google/gemini-3.1-pro-preview", 1_048_576),
    model("google/gemini-2.5-flash", 1_048_576),
    model("deepseek/deepseek-v4-flash", 1_000_000),
    model("moonshotai/kimi-k3", 262_144),
    model("z-ai/glm-5.2", 204_800),
    model("qwen/qwen3-max", 262_144),
  ],
  knownModels:
    /^(anthropic\/claude|openai\/(gpt|chatgpt|o\d)|google\/gem|deepseek\/deepseek|moonshotai\/kimi|z-ai\/glm|qwen\/qw|minimax\/minimax|mistralai\/|meta-llama\/llama|x-ai\/grok|cohere\/command)[a-z0-9.-]*(:[a-z]+)?$/,
  cache: { mode: "marked", minTokens: 1024, stepTokens: 1 },
  quirks: {
    responseId: (request) => `gen-${createdSeconds(request)}-${pseudoRandomLetters(request, "answer", 20)}`,
    callId,
    reasoning: "details",
    rereadFields: ["reasoning_details"],
    finishReasons: { refused: "content_filter", malformed: "error" },
    emptyContent: null,
    hasAnnotations: true,
    generates: "image",
    acceptsFile: (_kind, _place, id) => !textOnlyModels.test(id),
    refuseFile: () => ({ status: 404, kind: "not-found", message: "No endpoints found that support image input" }),
    message: ({ role, content, ...rest }, { refusal }) => ({ role, content, refusal, ...rest }),
    call: ({ index, id, name, arguments: given }) => ({
      type: "function",
      index,
      id,
      function: { name, arguments: given },
    }),
    choice: (message, { reason, native }) => ({
      logprobs: null,
      finish_reason: reason,
      native_finish_reason: native,
      index: 0,
      message,
    }),
    envelope: (body, request) => ({
      ...envelopeHead(body, request),
      provider: upstreamName(request.model),
      ...(body.kind === "chat.completion" ? { service_tier: null, system_fingerprint: null } : {}),
      choices: body.choices,
      usage: body.usage,
    }),
    usage,
    errors,
    requestId: (number) => ({ "x-generation-id": `gen-${number.slice(0, 20)}` }),
    model: ({ id, context, maxOutput }) => ({
      id,
      canonical_slug: id,
      name: id,
      created: modelCreated,
      description: "",
      context_length: context,
      architecture: {
        modality: textOnlyModels.test(id) ? "text->text" : "text+image->text",
        input_modalities: textOnlyModels.test(id) ? ["text"] : ["text", "image", "file"],
        output_modalities: ["text"],
        tokenizer: "Other",
        instruct_type: null,
      },
      pricing: { prompt: "0.000003", completion: "0.000015", request: "0", image: "0" },
      top_provider: { context_length: context, max_completion_tokens: maxOutput, is_moderated: false },
      per_request_limits: null,
      supported_parameters: ["max_tokens", "reasoning", "tool_choice", "tools"],
      default_parameters: null,
      supported_voices: null,
      links: { details: `/api/v1/models/${id}/endpoints` },
    }),
    list: (count) => ({ links: { next: null }, total_count: count }),
  },
  stream: {
    hasOpeningChunk: false,
    delta: (core) => ({ content: "", role: "assistant", ...core }),
    choice: (delta, finish) => ({
      index: 0,
      delta,
      finish_reason: finish?.reason ?? null,
      native_finish_reason: finish?.native ?? null,
    }),
    usage: "repeated-chunk",
    comment: ": OPENROUTER PROCESSING",
    failure: "chunk",
  },
});
