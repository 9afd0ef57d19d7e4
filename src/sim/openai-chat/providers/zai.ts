import type { SimProvider } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated } from "./compatible.ts";
import { defineErrors, type RefusalKindNames, type ChatError } from "../errors.ts";
import { createdSeconds, pseudoRandomHex } from "../ids.ts";
import type { ChatSimRequest, ChatErrors, ChatQuirks } from "../quirks.ts";

const codes: RefusalKindNames = {
  "bad-request": "1210",
  "bad-key": "1000",
  "no-permission": "1220",
  "no-credit": "1113",
  "not-found": "1211",
  "too-large": "1210",
  context: "1261",
  "rate-limited": "1302",
  quota: "1308",
  overloaded: "1305",
  server: "500",
};

const codeOf = ({ kind, message, check }: ChatError): string => {
  if (check === "no-key") return "1001";
  if (check === "no-route") return "404";
  return kind === "bad-request" && message.includes("illegal") ? "1214" : codes[kind];
};

/** Numeric codes for everything. An unknown model is a bad request. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-key": "Authentication parameter not received in Header, unable to authenticate",
    "wrong-key": "Authentication Failed",
    "no-model": "Unknown Model, please check the model code.",
    "no-route": "No static resource {path}.",
    "not-json": "Invalid API parameter, please check the documentation.",
    context: "Prompt exceeds max length",
  },
  statuses: { "no-model": 400 },
  body: (error) => ({ error: { code: codeOf(error), message: error.message } }),
});

/** The id starts with the time. */
const answerId = (request: ChatSimRequest): string =>
  new Date(createdSeconds(request) * 1000).toISOString().replaceAll(/\D/g, "").slice(0, 14) +
  pseudoRandomHex(request, "answer", 16);

const visionModels = /^glm-[\d.]+v/;

/** Z.ai's GLM. The arguments of a call are sent in one chunk, after a long pause, unless `tool_stream` is set. */
export const zaiServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "zai",
  host: /^(api\.z\.ai|open\.bigmodel\.cn)$/,
  base: "/api/paas/v4",
  models: [
    { id: "glm-5.2", context: 204_800, maxOutput: 131_072 },
    { id: "glm-5", context: 204_800, maxOutput: 131_072 },
    { id: "glm-4.7", context: 204_800, maxOutput: 131_072 },
    { id: "glm-4.6", context: 204_800, maxOutput: 131_072 },
    { id: "glm-4.6v", context: 131_072, maxOutput: 32_768 },
    { id: "glm-4.5v", context: 65_536, maxOutput: 16_384 },
  ],
  knownModels: /^glm-\d[a-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 128, stepTokens: 64 },
  quirks: {
    responseId: answerId,
    callId: ({ index }, request) => `call_${pseudoRandomHex(request, `call ${index}`, 32)}`,
    finishReasons: { filtered: "sensitive", context: "model_context_window_exceeded" },
    acceptsFile: (kind, place, model) => place === "user" && kind !== "audio" && visionModels.test(model),
    refuseFile: () => ({
      status: 400,
      kind: "bad-request",
      message: "Invalid API parameter, please check the documentation.",
    }),
    call: ({ index, id, name, arguments: given }) => ({
      function: { arguments: given, name },
      id,
      index,
      type: "function",
    }),
    envelope: (body, request) => {
      const { id, object, created, model } = envelopeHead(body, request);
      return body.kind === "chat.completion"
        ? { choices: body.choices, created, id, model, object, request_id: id, usage: body.usage }
        : { id, created, object, model, choices: body.choices, usage: body.usage };
    },
    errors,
    requestId: (number) => ({ "x-log-id": number }),
    model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "z-ai" }),
  },
  stream: {
    calls: "buffered",
    call: ({ index, id, name, arguments: given }) => ({
      id,
      index,
      type: "function",
      function: { name, arguments: given },
    }),
    hasOpeningChunk: false,
    delta: (core, { kind }) => ({
      role: "assistant",
      ...(kind === "calls" || kind === "end" ? { content: "" } : {}),
      ...core,
    }),
    choice: (delta, finish) => ({
      index: 0,
      ...(finish === undefined ? {} : { finish_reason: finish.reason }),
      delta,
    }),
    usage: "last-chunk",
  },
});
