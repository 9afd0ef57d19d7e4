import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated, plainCall } from "./compatible.ts";
import { defineErrors, openaiCodes, type ChatError } from "../errors.ts";
import { pseudoRandomLetters, lowerAlphanumeric, pseudoRandomUuid } from "../ids.ts";
import type { ChatSimRequest, ChatErrors, ChatQuirks } from "../quirks.ts";
import { cachedDetail, thoughtDetail } from "../usage.ts";

/** Usage with times, and without zero details. */
const usage = (counts: SimUsage): Json => {
  const [prompt, completion] = [counts.input / 20_000, counts.output / 500];
  return {
    queue_time: 0.01,
    prompt_tokens: counts.input,
    prompt_time: prompt,
    completion_tokens: counts.output,
    completion_time: completion,
    total_tokens: counts.input + counts.output,
    total_time: prompt + completion,
    ...(counts.cachedRead === 0 ? {} : { prompt_tokens_details: cachedDetail(counts) }),
    ...(counts.reasoning === 0 ? {} : { completion_tokens_details: thoughtDetail(counts) }),
  };
};

const typeOf = ({ kind }: ChatError): string => {
  if (kind === "rate-limited") return "tokens";
  return kind === "server" || kind === "overloaded" ? "internal_server_error" : "invalid_request_error";
};

const codeOf = ({ kind, check }: ChatError): string | undefined => {
  if (check === "no-route") return "unknown_url";
  return kind === "too-large" ? "request_too_large" : openaiCodes[kind];
};

/** OpenAI's envelope with an optional code and no param. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "Invalid API Key",
    "wrong-key": "Invalid API Key",
    "no-route":
      "Unknown request URL: {method} {path}. Please check the URL for typos, or see the docs at https://console.groq.com/docs/",
    "not-json": "{error}",
    "too-large": "Request Entity Too Large",
    context: "Please reduce the length of the messages or completion.",
  },
  body: (error) => ({
    error: {
      message: error.message,
      type: typeOf(error),
      ...(error.kind === "context" ? { param: "messages" } : {}),
      ...(codeOf(error) === undefined ? {} : { code: codeOf(error) }),
    },
  }),
});

const visionModels = /llama-4|vision|llava|maverick|scout/;
const isOss = (model: string): boolean => model.includes("gpt-oss");

/** The request id in `x_groq`. */
const groqRequest = (request: ChatSimRequest): string =>
  `req_01${pseudoRandomLetters(request, "request", 24, lowerAlphanumeric)}`;

const service = { service_tier: "on_demand", system_fingerprint: "fp_9241e9962b" };

/** Groq. Calls are sent in one chunk, and the usage of a stream is in `x_groq` too. */
export const groqServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "groq",
  host: /^api\.groq\.com$/,
  base: "/openai/v1",
  models: [
    { id: "openai/gpt-oss-120b", context: 131_072, maxOutput: 65_536 },
    { id: "openai/gpt-oss-20b", context: 131_072, maxOutput: 65_536 },
    { id: "moonshotai/kimi-k2-instruct-0905", context: 262_144, maxOutput: 16_384 },
    { id: "meta-llama/llama-4-scout-17b-16e-instruct", context: 131_072, maxOutput: 8192 },
    { id: "meta-llama/llama-4-maverick-17b-128e-instruct", context: 131_072, maxOutput: 8192 },
    { id: "qwen/qwen3-32b", context: 131_072, maxOutput: 40_960 },
    { id: "llama-3.3-70b-versatile", context: 131_072, maxOutput: 32_768 },
    { id: "groq/compound", context: 131_072, maxOutput: 8192 },
  ],
  knownModels:
    /^((openai\/gpt-oss|meta-llama\/llama|moonshotai\/kimi|qwen\/qwen|groq\/compound|llama|gemma|deepseek|mixtral|compound)[a-z0-9.-]*)$/,
  cache: { mode: "automatic", minTokens: 128, stepTokens: 128 },
  maxBytes: 4_000_000,
  quirks: {
    responseId: (request) => `chatcmpl-${pseudoRandomUuid(request, "answer")}`,
    callId: ({ index }, request) =>
      isOss(request.model)
        ? `fc_${pseudoRandomUuid(request, `call ${index}`)}`
        : pseudoRandomLetters(request, `call ${index}`, 9, lowerAlphanumeric),
    reasoning: "reasoning",
    rereadFields: ["reasoning"],
    emptyContent: undefined,
    finishReasons: { filtered: "stop" },
    acceptsFile: (kind, place, model) => kind === "image" && place === "user" && visionModels.test(model),
    refuseFile: (index) => ({
      status: 400,
      kind: "bad-request",
      message: `'messages.${index}' : for 'role:user' the following must be satisfied[('messages.${index}.content' : value must be a string)]`,
    }),
    choice: (message, { reason }) => ({ index: 0, message, logprobs: null, finish_reason: reason }),
    envelope: (body, request) =>
      body.kind === "chat.completion"
        ? {
            ...envelopeHead(body, request),
            choices: body.choices,
            usage: body.usage,
            usage_breakdown: null,
            ...service,
            x_groq: { id: groqRequest(request), seed: 1_234_567_890 },
          }
        : {
            ...envelopeHead(body, request),
            system_fingerprint: service.system_fingerprint,
            choices: body.choices,
            usage: body.usage,
          },
    usage,
    errors,
    requestId: (number) => ({ "x-request-id": `req_01${number.slice(0, 24)}` }),
    limits: {
      "x-ratelimit-limit-requests": "14400",
      "x-ratelimit-limit-tokens": "250000",
      "x-ratelimit-remaining-requests": "14399",
      "x-ratelimit-remaining-tokens": "249000",
      "x-ratelimit-reset-requests": "6s",
      "x-ratelimit-reset-tokens": "240ms",
    },
    model: ({ id, context, maxOutput }) => ({
      id,
      object: "model",
      created: modelCreated,
      owned_by: id.split("/")[0],
      active: true,
      context_window: context,
      public_apps: null,
      max_completion_tokens: maxOutput,
    }),
  },
  stream: {
    calls: "whole",
    call: (call) => ({ ...plainCall(call), index: call.index }),
    delta: (core, { kind, model }) => {
      if (kind === "open") return { role: "assistant", content: "" };
      return kind === "think" && isOss(model) ? { ...core, channel: "analysis" } : core;
    },
    choice: (delta, finish) => ({ index: 0, delta, logprobs: null, finish_reason: finish?.reason ?? null }),
    first: (request) => ({ x_groq: { id: groqRequest(request), seed: 1_234_567_890 } }),
    usage: "last-chunk",
    last: (counts, request) => ({ x_groq: { id: groqRequest(request), usage: counts } }),
    badCall: {
      message: "Tool call validation failed: the arguments are not valid JSON",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: "",
      status_code: 400,
    },
    failure: "event",
  },
});
