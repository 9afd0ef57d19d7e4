import type { Json, SimProvider } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated } from "./compatible.ts";
import { defineErrors } from "../errors.ts";
import { pseudoRandomLetters, lowerAlphanumeric } from "../ids.ts";
import type { SimChatCall, ChatErrors, ChatQuirks } from "../quirks.ts";
import { plainUsage } from "../usage.ts";

/** OpenAI's envelope, with the type derived from the status. */
const errors: ChatErrors = defineErrors({
  messages: {
    "no-model": "model '{model}' not found",
    "no-route": "404 page not found",
    "not-json": "{error}",
    context: "the input length exceeds the context length",
  },
  body: ({ message, status }) => ({
    error: {
      message,
      type: status === 400 ? "invalid_request_error" : status === 404 ? "not_found_error" : "api_error",
      param: null,
      code: null,
    },
  }),
});

const call = ({ id, index, name, arguments: given }: SimChatCall): Json => ({
  id,
  index,
  type: "function",
  function: { name, arguments: given },
});

const visionModels =
  /llava|vision|-vl|vl:|gemma-?[34](?!:(1b|270m))|pixtral|minicpm-v|llama-?4|moondream|mistral-small3\.[12]/;

/** Ollama on the local machine: no key, no reported cache, and the role in every chunk. */
export const ollamaServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "local",
  host: /^(localhost|127\.0\.0\.1)(:11434)?$/,
  base: "/v1",
  auth: "none",
  models: [
    { id: "qwen3", context: 40_960, maxOutput: 40_960 },
    { id: "gpt-oss:20b", context: 131_072, maxOutput: 131_072 },
    { id: "qwen3-vl", context: 262_144, maxOutput: 32_768 },
    { id: "gemma3", context: 131_072, maxOutput: 8192 },
    { id: "mistral-small", context: 131_072, maxOutput: 32_768 },
  ],
  knownModels:
    /^(qwen|qwq|llama|gemma|mistral|mixtral|ministral|magistral|devstral|codestral|pixtral|gpt-oss|deepseek|phi|llava|kimi|granite|moondream|minicpm|command-r|glm)[a-z0-9._-]*(:[a-z0-9._-]+)?$/i,
  cache: { mode: "none", minTokens: 0, stepTokens: 1 },
  quirks: {
    responseId: ({ ordinal }) => `chatcmpl-${ordinal % 1000}`,
    callId: ({ index }, request) => `call_${pseudoRandomLetters(request, `call ${index}`, 8, lowerAlphanumeric)}`,
    reasoning: "reasoning",
    rereadFields: ["reasoning"],
    acceptsFile: (kind, place, model) => kind === "image" && place === "user" && visionModels.test(model),
    fetchesUrls: false,
    refuseFile: (_index, { isAddress }) =>
      isAddress
        ? {
            status: 400,
            kind: "bad-request",
            message: "image URLs are not currently supported, please use base64 encoded data instead",
          }
        : undefined,
    losesListIds: true,
    call,
    envelope: (body, request) => ({
      ...envelopeHead(body, request),
      system_fingerprint: "fp_ollama",
      choices: body.choices,
      usage: body.usage,
    }),
    usage: plainUsage,
    errors,
    requestId: () => ({}),
    model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "library" }),
  },
  stream: {
    calls: "whole",
    call,
    hasOpeningChunk: false,
    delta: (core) => ({ role: "assistant", content: "", ...core }),
  },
});
