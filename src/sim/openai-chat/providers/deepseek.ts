import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, indexedCall } from "./compatible.ts";
import { defineErrors, openaiTypes, type RefusalKindNames } from "../errors.ts";
import { pseudoRandomLetters, pseudoRandomUuid } from "../ids.ts";
import type { ChatErrors, ChatQuirks, StreamStep } from "../quirks.ts";
import { detailedUsage } from "../usage.ts";

const types: RefusalKindNames = {
  ...openaiTypes,
  "bad-key": "authentication_error",
  "no-credit": "unknown_error",
  "rate-limited": "rate_limit_reached_error",
  overloaded: "service_unavailable_error",
};

/** OpenAI's envelope with a single code. An unknown model is a bad request. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "Authentication Fails (governor)",
    "wrong-key": "Authentication Fails, Your api key: ****{tail} is invalid",
    "no-model": "Model Not Exist",
    "not-json": "Failed to parse the request body as JSON: {error}",
    context:
      "This model's maximum context length is {limit} tokens. However, you requested {tokens} tokens ({tokens} in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
  },
  statuses: { "no-model": 400 },
  body: ({ message, kind }) => ({
    error: { message, type: types[kind], param: null, code: "invalid_request_error" },
  }),
});

/** Usage with cache hits and misses. */
const usage = (counts: SimUsage): Json => ({
  ...detailedUsage(counts),
  prompt_cache_hit_tokens: counts.cachedRead,
  prompt_cache_miss_tokens: counts.input - counts.cachedRead,
});

/** Chunks of a thinking model have both fields, one of them null. */
const delta = (core: Json, { kind, hasReasoning }: StreamStep): Json => {
  switch (kind) {
    case "open":
      return { role: "assistant", ...(hasReasoning ? { content: null, reasoning_content: "" } : { content: "" }) };
    case "think":
      return { content: null, ...core };
    case "say":
      return hasReasoning ? { ...core, reasoning_content: null } : core;
    case "end":
      return { content: "", ...(hasReasoning ? { reasoning_content: null } : {}) };
    case "calls":
    case "other":
      return core;
  }
};

/** DeepSeek. Old names are served by the newest model, which responds with its own name. */
export const deepseekServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "deepseek",
  host: /^api\.deepseek\.com$/,
  base: "",
  models: [
    { id: "deepseek-v4-flash", context: 1_000_000, maxOutput: 384_000 },
    { id: "deepseek-v4-pro", context: 1_000_000, maxOutput: 384_000 },
    { id: "deepseek-v4-flash-vision-exp", context: 1_000_000, maxOutput: 384_000 },
    { id: "deepseek-chat", context: 131_072, maxOutput: 8192 },
    { id: "deepseek-reasoner", context: 131_072, maxOutput: 65_536 },
  ],
  knownModels: /^deepseek-(chat|reasoner|coder|v[34]|r1)[a-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 128, stepTokens: 128 },
  quirks: {
    responseId: (request) => pseudoRandomUuid(request, "answer"),
    callId: ({ index }, request) =>
      `call_${String(index).padStart(2, "0")}_${pseudoRandomLetters(request, `call ${index}`, 24)}`,
    servedModel: (model) => (/^deepseek-(chat|reasoner)$/.test(model) ? "deepseek-v4-flash" : model),
    acceptsFile: (kind, _place, model) => kind === "image" && model.includes("vision"),
    call: indexedCall,
    choice: (message, { reason }) => ({ index: 0, message, logprobs: null, finish_reason: reason }),
    envelope: (body, request) => {
      const print = { system_fingerprint: "fp_8b330d02d0_prod0820_fp8_kvcache_20260402" };
      return body.kind === "chat.completion"
        ? { ...envelopeHead(body, request), choices: body.choices, usage: body.usage, ...print }
        : { ...envelopeHead(body, request), ...print, choices: body.choices, usage: body.usage };
    },
    usage,
    errors,
    requestId: (number) => ({ "x-ds-trace-id": number }),
    model: ({ id }) => ({ id, object: "model", owned_by: "deepseek" }),
  },
  stream: {
    delta,
    choice: (change, finish) => ({ index: 0, delta: change, logprobs: null, finish_reason: finish?.reason ?? null }),
    usage: "last-chunk",
    pendingUsage: "null-on-request",
  },
});
