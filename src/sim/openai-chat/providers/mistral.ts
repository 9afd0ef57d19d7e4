import type { Json, ApiRefusal, SimProvider, SimUsage } from "../../family.ts";
import { defineChatServer, envelopeHead, modelCreated } from "./compatible.ts";
import { defineErrors } from "../errors.ts";
import { pseudoRandomHex, pseudoRandomLetters } from "../ids.ts";
import type { ChatSimRequest, ChatErrors, ChatQuirks } from "../quirks.ts";
import { cachedDetail } from "../usage.ts";

/** A flat object with numbered codes; with status 422, a list of field errors. */
const errors: ChatErrors = (refusal, number) => {
  const problem = refusal.kind === "bad-request" ? invalidField(refusal) : undefined;
  return problem === undefined ? plainErrors(refusal, number) : { status: 422, body: { detail: [problem] } };
};

const invalidField = ({ message, pointer = "" }: ApiRefusal): Json | undefined => {
  const steps = pointer.split("/").slice(1);
  const loc = ["body", ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
  if (message.endsWith("(extra_forbidden)"))
    return { type: "extra_forbidden", loc, msg: "Extra inputs are not permitted" };
  if (message.startsWith("Missing required parameter")) return { type: "missing", loc, msg: "Field required" };
  return message.startsWith("Invalid type for") ? { type: "value_error", loc, msg: message } : undefined;
};

const plainErrors: ChatErrors = defineErrors({
  messages: {
    "no-model": "Invalid model: {model}",
    "no-route": "no Route matched with those values",
    "not-json": "{error}",
    context: "Prompt contains {tokens} tokens, too large for model with {limit} maximum context length",
  },
  statuses: { "no-model": 400 },
  body: ({ message, kind, status, check, number }) => {
    if (kind === "bad-key") return { detail: "Unauthorized" };
    if (check === "no-route") return { message, request_id: number };
    const [type, code] = kindOf(kind, message);
    return { object: "error", message, type, param: null, code, raw_status_code: status };
  },
});

type Kind = readonly [type: string, code: string | null];

const kindOf = (kind: ApiRefusal["kind"], message: string): Kind => {
  if (kind !== "bad-request") return kinds[kind] ?? ["internal_server_error", "1000"];
  if (/^(Unexpected role|Expected last role|Not the same number)/.test(message))
    return ["invalid_request_message_order", "3230"];
  if (/tool call id/i.test(message)) return ["invalid_function_call", "3280"];
  return message.startsWith("Assistant message")
    ? ["invalid_request_assistant_message", "3240"]
    : ["invalid_request_error", null];
};

const kinds: { readonly [kind in ApiRefusal["kind"]]?: Kind } = {
  "not-found": ["invalid_model", "1500"],
  context: ["invalid_request_prompt", "3051"],
  "too-large": ["invalid_request_error", null],
  "rate-limited": ["rate_limited", "1300"],
  quota: ["rate_limited", "1300"],
  overloaded: ["service_tier_capacity_exceeded", "3505"],
};

/** The field for cached tokens differs by model. */
const usage = (counts: SimUsage, { model }: ChatSimRequest): Json => ({
  prompt_tokens: counts.input,
  total_tokens: counts.input + counts.output,
  completion_tokens: counts.output,
  ...(model.includes("medium") ? { num_cached_tokens: counts.cachedRead } : {}),
  ...(/large|small/.test(model) ? { prompt_tokens_details: cachedDetail(counts) } : {}),
});

/** Mistral's own models; models of other vendors on this platform have other ids. */
const isOwn = /mistral|ministral|magistral|codestral|devstral|pixtral|voxtral|mixtral/;

const sees: ChatQuirks["acceptsFile"] = (kind, place, model) =>
  place === "user" && (kind === "image" || kind === "document" || (kind === "audio" && model.includes("voxtral")));

/** Mistral. Calls are complete, without an index, in the last chunk, which also has the usage. */
export const mistralServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "mistral",
  host: /^api\.mistral\.ai$/,
  base: "/v1",
  models: [
    { id: "mistral-large-latest", context: 262_144, maxOutput: 65_536 },
    { id: "mistral-medium-latest", context: 131_072, maxOutput: 65_536 },
    { id: "mistral-small-latest", context: 131_072, maxOutput: 65_536 },
    { id: "magistral-medium-latest", context: 131_072, maxOutput: 40_000 },
    { id: "devstral-medium-latest", context: 262_144, maxOutput: 65_536 },
    { id: "pixtral-12b-latest", context: 131_072, maxOutput: 32_768 },
    { id: "voxtral-small-latest", context: 32_768, maxOutput: 16_384 },
    { id: "zai-glm-5-2", context: 204_800, maxOutput: 65_536 },
  ],
  knownModels:
    /^((open-)?(mistral|ministral|magistral|codestral|devstral|pixtral|voxtral|mixtral)|labs-|zai-)[a-z0-9.-]*$/,
  cache: { mode: "automatic", minTokens: 64, stepTokens: 64 },
  quirks: {
    responseId: (request) => pseudoRandomHex(request, "answer", 32),
    callId: ({ index }, request) =>
      isOwn.test(request.model)
        ? pseudoRandomLetters(request, `call ${index}`, 9)
        : `chatcmpl-tool-${pseudoRandomHex(request, `call ${index}`, 16)}`,
    reasoning: "chunks",
    rereadFields: [],
    finishReasons: { context: "model_length", malformed: "error", filtered: "stop" },
    acceptsFile: sees,
    message: ({ role, tool_calls: calls = null, ...rest }) => ({ role, tool_calls: calls, ...rest }),
    call: ({ index, id, name, arguments: given }) => ({ id, function: { name, arguments: given }, index }),
    choice: (message, { reason }) => ({ index: 0, finish_reason: reason, message }),
    envelope: (body, request) => {
      const { id, object, created, model } = envelopeHead(body, request);
      return body.kind === "chat.completion"
        ? { id, created, model, usage: body.usage, object, choices: body.choices }
        : { id, object, created, model, choices: body.choices, usage: body.usage };
    },
    usage,
    hosted: { models: /^zai-/, stream: { calls: "blank-names", sendsCallsLast: false } },
    errors,
    requestId: (number) => ({ "mistral-correlation-id": number, "x-kong-request-id": number }),
    limits: {
      "x-ratelimit-limit-req-minute": "360",
      "x-ratelimit-remaining-req-minute": "359",
      "x-ratelimit-limit-tokens-minute": "2000000",
      "x-ratelimit-remaining-tokens-minute": "1999000",
    },
    model: ({ id, context }) => ({
      id,
      object: "model",
      created: modelCreated,
      owned_by: "mistralai",
      capabilities: {
        completion_chat: true,
        completion_fim: false,
        function_calling: true,
        fine_tuning: false,
        vision: true,
        audio: id.includes("voxtral"),
      },
      name: id,
      description: "",
      max_context_length: context,
      aliases: [],
      deprecation: null,
      type: "base",
    }),
  },
  stream: {
    calls: "whole",
    call: ({ id, name, arguments: given }) => ({ id, function: { name, arguments: given } }),
    sendsCallsLast: true,
    delta: (core, { kind }) => {
      if (kind === "open") return { role: "assistant", content: "" };
      if (kind === "calls") return { content: null, ...core };
      return kind === "end" ? { content: "" } : core;
    },
    usage: "last-chunk",
    padding: "p",
  },
});
