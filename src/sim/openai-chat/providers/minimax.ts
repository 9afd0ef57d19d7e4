import type { Json, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated, plainCall } from "./compatible.ts";
import { defineErrors, type RefusalKindNames } from "../errors.ts";
import { pseudoRandomHex, pseudoRandomLetters, lowerAlphanumeric } from "../ids.ts";
import type { SimChatCall, ChatErrors, ChatQuirks } from "../quirks.ts";
import { cachedDetail, thoughtDetail } from "../usage.ts";

const types: RefusalKindNames = {
  "bad-request": "bad_request_error",
  "bad-key": "authorized_error",
  "no-permission": "authorized_error",
  "no-credit": "insufficient_balance_error",
  "not-found": "bad_request_error",
  "too-large": "bad_request_error",
  context: "bad_request_error",
  "rate-limited": "rate_limit_error",
  quota: "rate_limit_error",
  overloaded: "overloaded_error",
  server: "api_error",
};

/** A type, the status as text, and an error number at the end of the message. An unknown model is a bad request. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
    "wrong-key": "invalid api key (2049)",
    "no-model": "invalid params, unknown model '{model}' (2013)",
    "no-route": "404 page not found",
    "not-json": "invalid params, {error} (2013)",
    context: "invalid params, context window exceeds limit (2013)",
  },
  statuses: { "no-model": 400 },
  body: ({ message, kind, status, number }) => ({
    type: "error",
    error: {
      type: types[kind],
      message: kind !== "bad-request" || /\(\d+\)$/.test(message) ? message : `invalid params, ${message} (2013)`,
      http_code: String(status),
    },
    request_id: number,
  }),
});

const usage = (counts: SimUsage): Json => ({
  total_tokens: counts.input + counts.output,
  total_characters: 0,
  prompt_tokens: counts.input,
  completion_tokens: counts.output,
  prompt_tokens_details: cachedDetail(counts),
  completion_tokens_details: thoughtDetail(counts),
});

const call = (made: SimChatCall): Json => ({ ...plainCall(made), index: made.index });
const authorFields = { role: "assistant", name: "MiniMax AI", audio_content: "" };
const sensitivityFields = {
  input_sensitive: false,
  output_sensitive: false,
  input_sensitive_type: 0,
  output_sensitive_type: 0,
};

/** MiniMax. Thinking is in the text between tags, unless `reasoning_split` requests it separately. */
export const minimaxServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "minimax",
  host: /^api\.minimaxi?\.(io|com|chat)$/,
  base: "/v1",
  models: [
    { id: "MiniMax-M2.5", context: 204_800, maxOutput: 131_072 },
    { id: "MiniMax-M3", context: 1_000_000, maxOutput: 131_072 },
    { id: "MiniMax-M2.7", context: 204_800, maxOutput: 131_072 },
    { id: "MiniMax-M2.1", context: 204_800, maxOutput: 131_072 },
    { id: "MiniMax-M2", context: 204_800, maxOutput: 131_072 },
  ],
  knownModels: /^MiniMax-(M\d|Text)[A-Za-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 512, stepTokens: 1 },
  quirks: {
    responseId: (request) => pseudoRandomHex(request, "answer", 32),
    callId: ({ index }, request) =>
      `call_function_${pseudoRandomLetters(request, "calls", 12, lowerAlphanumeric)}_${index + 1}`,
    reasoning: "tags",
    rereadFields: ["reasoning_details"],
    acceptsFile: (kind, place, model) => kind === "image" && place === "user" && !/-M[12]/.test(model),
    message: (core) => ({ ...core, ...authorFields }),
    call,
    choice: (message, { reason }) => ({ finish_reason: reason, index: 0, message }),
    envelope: (body, request) => {
      const { id, object, created, model } = envelopeHead(body, request);
      const base = { base_resp: { status_code: 0, status_msg: "" } };
      return {
        id,
        choices: body.choices,
        created,
        model,
        object,
        usage: body.usage,
        ...sensitivityFields,
        ...(body.kind === "chat.completion" ? base : {}),
      };
    },
    usage,
    errors,
    requestId: (number) => ({ "trace-id": number, "minimax-request-id": number }),
    model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "minimax" }),
  },
  stream: {
    calls: "buffered",
    call,
    hasOpeningChunk: false,
    delta: (core) => ({ content: "", ...core, ...authorFields }),
    usage: "on-request",
    pendingUsage: "null",
  },
});
