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

/** OpenAI's envelope with one code for everything. An unknown model is a bad request. */
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

/** How much of the prompt was found, and how much was not. */
const usage = (counts: SimUsage): Json => ({
  ...detailedUsage(counts),
  prompt_cache_hit_tokens: counts.cachedRead,
  prompt_cache_miss_tokens: counts.input - counts.cachedRead,
});

/** A model that thinks names both fields in each chunk, one of them null. */
const delta = (core: Json, { kind, hasReasoning: thinks }: StreamStep): Json => {
  switch (kind) {
    case "open":
      return { role: "assistant", ...(thinks ? { content: null, reasoning_content: "" } : { content: "" }) };
    case "think":
      return { content: null, ...core };
    case "say":
      return thinks ? { ...core, reasoning_content: null } : core;
    case "end":
      return { content: "", ...(thinks ? { reasoning_content: null } : {}) };
    case "calls":
    case "other":
      return core;
  }
};

/** DeepSeek. Old names lead to the newest model, which signs with its own. */
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
    responseId: (ask) => pseudoRandomUuid(ask, "answer"),
    callId: ({ index }, ask) =>
      `call_${String(index).padStart(2, "0")}_${pseudoRandomLetters(ask, `call ${index}`, 24)}`,
    servedModel: (model) => (/^deepseek-(chat|reasoner)$/.test(model) ? "deepseek-v4-flash" : model),
    acceptsFile: (kind, _place, model) => kind === "image" && model.includes("vision"),
    call: indexedCall,
    choice: (message, { reason }) => ({ index: 0, message, logprobs: null, finish_reason: reason }),
    envelope: (body, ask) => {
      const print = { system_fingerprint: "fp_8b330d02d0_prod0820_fp8_kvcache_20260402" };
      return body.kind === "chat.completion"
        ? { ...envelopeHead(body, ask), choices: body.choices, usage: body.usage, ...print }
        : { ...envelopeHead(body, ask), ...print, choices: body.choices, usage: body.usage };
    },
    usage,
    errors,
    requestId: (number) => ({ "x-ds-trace-id": number }),
    model: ({ id }) => ({ id, object: "model", owned_by: "deepseek" }),
  },
  stream: {
    delta,
    choice: (change, finish) => ({ index: 0, delta: change, logprobs: null, finish_reason: finish?.reason ?? null }),
    usage: "end",
    pendingUsage: "null-if-asked",
  },
});
