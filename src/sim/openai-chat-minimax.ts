import type { Json, SimProvider, SimUsage } from "./family.ts";
import { chatServer, headOf, modelCreated, plainCall } from "./openai-chat-compatible.ts";
import { inManner, type Kinds } from "./openai-chat-errors.ts";
import { hexOf, letters, smallLetters } from "./openai-chat-ids.ts";
import type { ChatCall, ChatErrors, ChatQuirks } from "./openai-chat-quirks.ts";
import { cachedDetail, thoughtDetail } from "./openai-chat-usage.ts";

const types: Kinds = {
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

/** A type, the status as text, and a number of its own at the end of the sentence. An unknown model is a bad request. */
const errors: ChatErrors = inManner({
  words: {
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

const call = (made: ChatCall): Json => ({ ...plainCall(made), index: made.index });
const person = { role: "assistant", name: "MiniMax AI", audio_content: "" };
const judged = { input_sensitive: false, output_sensitive: false, input_sensitive_type: 0, output_sensitive_type: 0 };

/** MiniMax. Thinks inside the text, between tags, unless `reasoning_split` asks for the thought apart. */
export const minimaxServer: SimProvider<ChatQuirks> = chatServer({
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
  known: /^MiniMax-(M\d|Text)[A-Za-z0-9.-]*$/,
  cache: { mode: "automatic", floor: 512, step: 1 },
  quirks: {
    answerId: (ask) => hexOf(ask, "answer", 32),
    callId: ({ index }, ask) => `call_function_${letters(ask, "calls", 12, smallLetters)}_${index + 1}`,
    reasoning: "tags",
    rereads: ["reasoning_details"],
    sees: (kind, place, model) => kind === "image" && place === "user" && !/-M[12]/.test(model),
    message: (core) => ({ ...core, ...person }),
    call,
    choice: (message, { reason }) => ({ finish_reason: reason, index: 0, message }),
    envelope: (body, ask) => {
      const { id, object, created, model } = headOf(body, ask);
      const base = { base_resp: { status_code: 0, status_msg: "" } };
      return {
        id,
        choices: body.choices,
        created,
        model,
        object,
        usage: body.usage,
        ...judged,
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
    opens: false,
    delta: (core) => ({ content: "", ...core, ...person }),
    usage: "asked",
    noUsage: "null",
  },
});
