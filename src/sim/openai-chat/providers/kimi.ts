import type { SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, modelCreated } from "./compatible.ts";
import { defineErrors, type RefusalKindNames } from "../errors.ts";
import { asUuid, pseudoRandomUuid } from "../ids.ts";
import type { ChatErrors, ChatQuirks } from "../quirks.ts";
import { cachedDetail, plainUsage, thoughtDetail } from "../usage.ts";

const types: RefusalKindNames = {
  "bad-request": "invalid_request_error",
  "bad-key": "invalid_authentication_error",
  "no-permission": "permission_denied_error",
  "no-credit": "exceeded_current_quota_error",
  "not-found": "resource_not_found_error",
  "too-large": "invalid_request_error",
  context: "invalid_request_error",
  "rate-limited": "rate_limit_reached_error",
  quota: "exceeded_current_quota_error",
  overloaded: "engine_overloaded_error",
  server: "server_error",
};

/** An error with message and type. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "Invalid Authentication",
    "wrong-key": "Invalid Authentication",
    "no-model": "Not found the model {model} or Permission denied",
    "no-route": "The requested resource was not found",
    "not-json": "Invalid request: {error}",
    context: "Invalid request: Your request exceeded model token limit: {limit} (requested: {tokens})",
  },
  body: ({ message, kind }) => ({ error: { message, type: types[kind] } }),
});

/** Cached tokens are reported twice, the first time only if not zero. */
const usage = (counts: SimUsage): ReturnType<ChatQuirks["usage"]> => ({
  ...plainUsage(counts),
  ...(counts.cachedRead === 0 ? {} : { cached_tokens: counts.cachedRead }),
  completion_tokens_details: thoughtDetail(counts),
  prompt_tokens_details: cachedDetail(counts),
});

const visionModels = /k2\.[5-9]|\bk[3-9]|vision/;

/** Moonshot's Kimi. Call ids restart with every response; the usage of a stream is in its last choice. */
export const kimiServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "kimi",
  host: /^api\.moonshot\.(ai|cn)$/,
  base: "/v1",
  models: [
    { id: "kimi-k3", context: 262_144, maxOutput: 65_536 },
    { id: "kimi-k2.7", context: 262_144, maxOutput: 65_536 },
    { id: "kimi-k2.6", context: 262_144, maxOutput: 65_536 },
    { id: "kimi-k2.5", context: 262_144, maxOutput: 32_768 },
    { id: "kimi-k2-thinking", context: 262_144, maxOutput: 32_768 },
    { id: "kimi-k2-turbo-preview", context: 262_144, maxOutput: 32_768 },
    { id: "moonshot-v1-128k", context: 131_072, maxOutput: 8192 },
  ],
  knownModels: /^(kimi-(k\d|latest|thinking)|moonshot-v1-)[a-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 1, stepTokens: 1 },
  quirks: {
    responseId: (request) => `chatcmpl-${pseudoRandomUuid(request, "answer")}`,
    callId: ({ index, tool }) => `functions.${tool}:${index}`,
    acceptsFile: (kind, _place, model) => (kind === "image" || kind === "video") && visionModels.test(model),
    fetchesUrls: false,
    usage,
    errors,
    requestId: (number) => ({ "msh-request-id": asUuid(number), "x-request-id": asUuid(number) }),
    limits: { "x-ratelimit-limit": "500", "x-ratelimit-remaining": "499" },
    model: ({ id, context }) => ({
      id,
      object: "model",
      created: modelCreated,
      owned_by: "moonshot",
      context_length: context,
      supports_image_in: visionModels.test(id),
      supports_video_in: visionModels.test(id),
      supports_reasoning: visionModels.test(id) || id.includes("thinking"),
    }),
  },
  stream: { usage: "last-choice" },
});
