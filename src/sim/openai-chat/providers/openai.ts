import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated } from "./compatible.ts";
import { pseudoRandomLetters } from "../ids.ts";
import type { ChatSimRequest, ChatResponseBody, ChatQuirks } from "../quirks.ts";
import { plainUsage } from "../usage.ts";

const models = [
  ...["gpt-5.6", "gpt-5.6-sol", "gpt-5.4", "gpt-5.4-mini"].map((id) => ({
    id,
    context: 1_050_000,
    maxOutput: 128_000,
  })),
  ...["gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-5-nano"].map((id) => ({ id, context: 400_000, maxOutput: 128_000 })),
  ...["gpt-4.1", "gpt-4.1-mini"].map((id) => ({ id, context: 1_047_576, maxOutput: 32_768 })),
  ...["gpt-4o", "gpt-4o-mini", "gpt-4o-audio-preview", "gpt-4o-search-preview"].map((id) => ({
    id,
    context: 128_000,
    maxOutput: 16_384,
  })),
  ...["o3", "o3-mini", "o4-mini"].map((id) => ({ id, context: 200_000, maxOutput: 100_000 })),
];

const service = { service_tier: "default", system_fingerprint: "fp_5c1f00a2b3" };

const envelope = (body: ChatResponseBody, request: ChatSimRequest): Json => {
  const { kind, choices, usage: counts } = body;
  return kind === "chat.completion"
    ? { ...envelopeHead(body, request), choices, usage: counts, ...service }
    : { ...envelopeHead(body, request), ...service, choices, usage: counts };
};

/** Audio is the only modality counted separately. */
const usage = (counts: SimUsage): Json => ({
  ...plainUsage(counts),
  prompt_tokens_details: { cached_tokens: counts.cachedRead, audio_tokens: counts.inputBy.audio ?? 0 },
  completion_tokens_details: {
    reasoning_tokens: counts.reasoning,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});

/** OpenAI's older API. Reasoning is counted and never returned. */
export const openaiServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "openai-chat",
  host: /^(eu\.|us\.)?api\.openai\.com$/,
  base: "/v1",
  models,
  knownModels: /^(gpt-(3\.5|4|4o|4\.1|[5-9](\.\d+)?)|chatgpt-4o|o[134])(-[a-z]+)*(-\d{4}(-\d\d-\d\d)?)?$/,
  cache: { mode: "automatic", minTokens: 1024, stepTokens: 128 },
  maxBytes: 2 ** 26,
  quirks: {
    responseId: (request) => `chatcmpl-${pseudoRandomLetters(request, "answer", 29)}`,
    callId: ({ index }, request) => `call_${pseudoRandomLetters(request, `call ${index}`, 24)}`,
    reasoning: "hidden",
    rereadFields: [],
    emptyContent: null,
    refusalField: true,
    hasAnnotations: true,
    generates: "audio",
    acceptsFile: (_kind, place) => place === "user",
    message: ({ role, content, tool_calls: calls, annotations = [], ...rest }, { refusal }) => ({
      role,
      content: refusal === null ? content : null,
      tool_calls: calls,
      refusal,
      annotations,
      ...rest,
    }),
    choice: (message, { reason }) => ({ index: 0, message, logprobs: null, finish_reason: reason }),
    envelope,
    usage,
    requestId: (number) => ({ "x-request-id": `req_${number}`, "openai-version": "2020-10-01" }),
    limits: {
      "x-ratelimit-limit-requests": "10000",
      "x-ratelimit-limit-tokens": "2000000",
      "x-ratelimit-remaining-requests": "9999",
      "x-ratelimit-remaining-tokens": "1999900",
      "x-ratelimit-reset-requests": "6ms",
      "x-ratelimit-reset-tokens": "3ms",
    },
    model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "system" }),
  },
  stream: {
    delta: (core, { kind, hasOnlyCalls }) => {
      if (kind !== "open") return core;
      return hasOnlyCalls ? { role: "assistant", content: null } : { role: "assistant", content: "", refusal: null };
    },
    choice: (delta, finish) => ({ index: 0, delta, logprobs: null, finish_reason: finish?.reason ?? null }),
    pendingUsage: "null-on-request",
    padding: "obfuscation",
  },
});
