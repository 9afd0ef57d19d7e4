import type { SimRequest, SimFamily, ApiRefusal, CheckFailure, ApiRoute, SimModel } from "../family.ts";
import { encodeErrorEvent, idOf, encodeStream, encodeResponse } from "./response.ts";
import { parseRequest } from "./parse-request.ts";
import { anthropicProviders } from "./models.ts";
import { blocksOfMessages, judgeSeal, splitPrompt, findSeals } from "./prompt.ts";
import { asArray, asNumber, asObject } from "../json.ts";
import type { HttpRequest } from "../../world/net.ts";

/** The Messages API of Anthropic. */
export const anthropicFamily: SimFamily = {
  wire: "anthropic",
  providers: anthropicProviders,
  route: (request, path) => routeRequest(request, path),
  encodeError: (refusal) => {
    const envelope = envelopeOf(refusal);
    return { body: envelope, headers: { "request-id": envelope.request_id }, status: statusOf(refusal) };
  },
  checkRequest: (request) => checkVersion(request) ?? checkBinding(request) ?? checkLength(request),
  responseHeaders: (request) => ({
    "request-id": idOf("req", request, 0),
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
  }),
  countedBody: (body) => ({ max_tokens: 1, ...body }),
  parseRequest,
  splitPrompt: splitPrompt,
  findSeals: findSeals,
  judgeSeal: judgeSeal,
  encodeResponse,
  encodeStream,
  streamType: "text/event-stream; charset=utf-8",
  encodeStreamError: (refusal) => encodeErrorEvent(envelopeOf(refusal)),
  encodeCount: ({ input }) => ({ input_tokens: input }),
  encodeModels: (models) => ({
    data: models.map(modelInfo),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  encodeModel: modelInfo,
};

const routeRequest = ({ method, body }: HttpRequest, path: string): ApiRoute | undefined => {
  if (method === "GET") {
    const [, model] = /^\/v1\/models\/([^/]+)$/.exec(path) ?? [];
    return model === undefined ? (path === "/v1/models" ? { kind: "models" } : undefined) : { kind: "model", model };
  }
  if (path === "/v1/messages/count_tokens") return { kind: "count" };
  if (path !== "/v1/messages") return undefined;
  return { kind: wantsStream(body) ? "stream" : "generate" };
};

const wantsStream = (body: HttpRequest["body"]): boolean => {
  try {
    return asObject(JSON.parse(Buffer.from(body ?? "").toString()))["stream"] === true;
  } catch {
    return false;
  }
};

type AnthropicErrorEnvelope = {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string; readonly details?: unknown };
  readonly request_id: string;
};

const envelopeOf = (refusal: ApiRefusal): AnthropicErrorEnvelope => ({
  type: "error",
  error: {
    type: refusal.status === 504 ? "timeout_error" : errorTypes[refusal.kind],
    message: refusal.about === undefined ? refusal.message : failureMessage(refusal.about),
    ...(refusal.kind === "quota" ? { details: { error_code: "enforced_spend_limit_reached" } } : {}),
  },
  request_id: idOf("req", { ordinal: refusal.ordinal ?? 0, body: {} }, 0),
});

const errorTypes: { readonly [kind in ApiRefusal["kind"]]: string } = {
  "bad-request": "invalid_request_error",
  "bad-key": "authentication_error",
  "no-permission": "permission_error",
  "no-credit": "billing_error",
  "not-found": "not_found_error",
  "too-large": "request_too_large",
  context: "invalid_request_error",
  "rate-limited": "rate_limit_error",
  quota: "rate_limit_error",
  overloaded: "overloaded_error",
  server: "api_error",
};

const statusOf = ({ about, status }: ApiRefusal): number => (about?.check === "wrong-signature" ? 401 : status);

const failureMessage = (about: CheckFailure): string => {
  switch (about.check) {
    case "no-key":
      return "x-api-key header is required";
    case "wrong-key":
    case "wrong-signature":
      return "invalid x-api-key";
    case "no-model":
      return `model: ${about.model}`;
    case "no-route":
      return "Not found";
    case "not-json":
      return `The request body is not valid JSON: ${about.error}`;
    case "too-large":
      return "Request exceeds the maximum size";
    case "context":
      return `prompt is too long: ${about.tokens} tokens > ${about.limit} maximum`;
  }
};

const badRequest = (message: string, pointer?: string): ApiRefusal => ({
  status: 400,
  kind: "bad-request",
  message,
  ...(pointer === undefined ? {} : { pointer }),
});

/** Checks the API version. Version 2026-10-21 accepts less than 2023-06-01; others are unknown. */
const checkVersion = (request: SimRequest): ApiRefusal | undefined => {
  const version = request.headers["anthropic-version"];
  if (version === undefined) return badRequest("anthropic-version: header is required");
  if (version === "2023-06-01") return undefined;
  if (version !== "2026-10-21") return badRequest(`anthropic-version: ${version} is not a valid version`);
  const setting = ["temperature", "top_p", "top_k"].find((name) => request.body[name] !== undefined);
  if (setting !== undefined) return badRequest(`${setting}: Extra inputs are not permitted`, `/${setting}`);
  for (const { role, type, value, path, pointer } of blocksOfMessages(request.body)) {
    if (role === "assistant" && type === "document")
      return badRequest(`${path}: \`document\` blocks are not permitted in \`assistant\` messages`, pointer);
    if (role === "user" && type === "text" && asArray(value["citations"]).length > 0)
      return badRequest(`${path}.text.citations: Extra inputs are not permitted`, `${pointer}/citations`);
  }
  return undefined;
};

const checkBinding = ({ body, headers }: SimRequest): ApiRefusal | undefined => {
  const isAllowed = (headers["anthropic-beta"] ?? "").split(/, ?/).includes("thinking-binding-controls-2026-08-01");
  return asObject(body["thinking"])["block_binding"] === undefined || isAllowed
    ? undefined
    : badRequest("thinking.block_binding: Extra inputs are not permitted", "/thinking/block_binding");
};

const checkLength = ({ body, model, provider }: SimRequest): ApiRefusal | undefined => {
  const limit = provider.models.find(({ id }) => id === model)?.maxOutput ?? Infinity;
  const asked = asNumber(body["max_tokens"]) ?? 0;
  if (asked <= limit) return undefined;
  return badRequest(
    `max_tokens: ${asked} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
    "/max_tokens",
  );
};

function modelInfo({ id, context, maxOutput }: SimModel): { readonly [key: string]: unknown } {
  const name = id.replace(/^claude-/, "").replace(/-(\d)-(\d)/, "-$1.$2");
  return {
    type: "model",
    id,
    display_name: `Claude ${name
      .split("-")
      .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join(" ")}`,
    created_at: "2026-01-01T00:00:00Z",
    max_input_tokens: context,
    max_tokens: maxOutput,
  };
}
