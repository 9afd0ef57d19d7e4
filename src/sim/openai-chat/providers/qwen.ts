import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead } from "./compatible.ts";
import { defineErrors, openaiCodes, openaiTypes, type ChatError } from "../errors.ts";
import { asUuid, pseudoRandomHex, pseudoRandomUuid } from "../ids.ts";
import type { ChatErrors, ChatQuirks } from "../quirks.ts";
import { cachedDetail, plainUsage, thoughtDetail } from "../usage.ts";

const codeOf = ({ kind, check }: ChatError): string | null => {
  if (check === "not-json") return null;
  if (kind === "bad-request" || kind === "context") return "invalid_parameter_error";
  return kind === "rate-limited" ? "limit_requests" : (openaiCodes[kind] ?? null);
};

/** OpenAI's envelope with a request id. */
const errors: ChatErrors = defineErrors({
  messages: {
    "wrong-key": "Incorrect API key provided. ",
    "not-json": "Required body invalid, please check the request body format.",
    context: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {limit}]",
  },
  body: (error) => ({
    error: {
      message: error.message,
      type: error.kind === "rate-limited" ? "limit_requests" : openaiTypes[error.kind],
      param: null,
      code: codeOf(error),
    },
    request_id: asUuid(error.number),
  }),
});

/** Usage by modality, if the prompt is not text only. */
const usage = (counts: SimUsage): Json => {
  const { text = 0, image, audio, video } = counts.inputBy;
  const kinds = { image_tokens: image, audio_tokens: audio, video_tokens: video };
  const isMixed = Object.values(kinds).some((count) => count !== undefined);
  return {
    ...plainUsage(counts),
    ...(counts.reasoning === 0 ? {} : { completion_tokens_details: thoughtDetail(counts) }),
    prompt_tokens_details: { ...cachedDetail(counts), ...(isMixed ? { text_tokens: text, ...kinds } : {}) },
  };
};

const sees: ChatQuirks["acceptsFile"] = (kind, place, model) => {
  if (place === "tool") return false;
  if (kind === "audio") return model.includes("omni");
  return kind !== "document" && /vl|omni|qwen3\.\d|qvq/.test(model);
};

/** Alibaba's Qwen on DashScope. Further deltas of a call have an empty id. */
export const qwenServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "qwen",
  host: /^dashscope(-intl|-us)?\.aliyuncs\.com$/,
  base: "/compatible-mode/v1",
  models: [
    { id: "qwen3-max", context: 262_144, maxOutput: 65_536 },
    { id: "qwen3.5-plus", context: 1_000_000, maxOutput: 65_536 },
    { id: "qwen-plus", context: 1_000_000, maxOutput: 32_768 },
    { id: "qwen3-coder-plus", context: 1_000_000, maxOutput: 65_536 },
    { id: "qwen3-vl-plus", context: 262_144, maxOutput: 32_768 },
    { id: "qwen3-omni-flash", context: 65_536, maxOutput: 16_384 },
  ],
  knownModels: /^(qwen|qwq|qvq)[a-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 256, stepTokens: 1 },
  quirks: {
    responseId: (request) => `chatcmpl-${pseudoRandomUuid(request, "answer")}`,
    callId: ({ index }, request) => `call_${pseudoRandomHex(request, `call ${index}`, 24)}`,
    // Reasoning of earlier messages is ignored.
    rereadFields: [],
    acceptsFile: sees,
    message: ({ role, content, ...rest }) => ({ content, role, ...rest }),
    call: ({ index, id, name, arguments: given }) => ({
      function: { arguments: given, name },
      id,
      index,
      type: "function",
    }),
    choice: (message, { reason }) => ({ message, finish_reason: reason, index: 0, logprobs: null }),
    envelope: (body, request) => {
      const { id, object, created, model } = envelopeHead(body, request);
      return { choices: body.choices, object, usage: body.usage, created, system_fingerprint: null, model, id };
    },
    usage,
    errors,
  },
  stream: {
    calls: "blank-ids",
    hasOpeningChunk: false,
    delta: (core, { kind, isFirst }) => ({
      ...(kind === "calls" || kind === "think" ? { content: null } : {}),
      ...core,
      ...(isFirst ? { role: "assistant" } : {}),
    }),
    choice: (delta, finish) => ({ delta, finish_reason: finish?.reason ?? null, index: 0, logprobs: null }),
    pendingUsage: "null",
  },
});
