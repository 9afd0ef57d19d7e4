import type { JsonObject } from "../../conversation/json.ts";
import type { ErrorAnswer } from "./answer.ts";
import { explainGatewayFailure, type GatewayFailure } from "./failure.ts";

/** The classes of errors that clients react to. */
type ErrorClass =
  | "invalid"
  | "token"
  | "permission"
  | "not-found"
  | "method"
  | "too-large"
  | "context"
  | "rate"
  | "quota"
  | "credit"
  | "overloaded"
  | "time-out"
  | "cancelled"
  | "server"
  | "internal";

/** Classifies a failure for the client. The target's bad key is no fault of the client's token, and signing in there cannot help. */
const classOf = (failure: GatewayFailure): ErrorClass => {
  switch (failure.kind) {
    case "bad-token":
      return "token";
    case "forbidden":
      return "permission";
    case "unknown-model":
    case "unknown-path":
      return "not-found";
    case "bad-method":
      return "method";
    case "too-large":
      return "too-large";
    case "context-too-long":
      return "context";
    case "rate-limited":
    case "busy":
      return "rate";
    case "quota-gone":
      return "quota";
    case "no-credit":
    case "spend-limit":
      return "credit";
    case "overloaded":
      return "overloaded";
    case "time-out":
      return "time-out";
    case "cancelled":
      return "cancelled";
    case "refused":
      return failure.status === 404 ? "not-found" : failure.status === 413 ? "too-large" : "invalid";
    case "bad-request":
    case "no-key":
    case "misconfigured":
    case "bad-key":
    case "filtered":
      return "invalid";
    case "network":
    case "stream-cut":
    case "malformed-stream":
    case "no-summary":
      return "server";
    case "internal":
      return "internal";
  }
};

/** Encodes an error of the Anthropic API. Claude Code compacts on "prompt is too long". */
export const anthropicError = (failure: GatewayFailure, requestId: string): ErrorAnswer => {
  const kind = classOf(failure);
  const [status, type] = anthropicTypes[kind];
  const message = kind === "context" ? anthropicContextMessage(failure) : explainGatewayFailure(failure);
  return {
    status,
    headers: {
      "request-id": requestId,
      "x-should-retry": String(isRetryable(kind)),
      ...retryHeaders(failure, kind),
    },
    body: { type: "error", error: { type, message }, request_id: requestId },
  };
};

const anthropicTypes: { readonly [kind in ErrorClass]: readonly [number, string] } = {
  invalid: [400, "invalid_request_error"],
  token: [401, "authentication_error"],
  permission: [403, "permission_error"],
  "not-found": [404, "not_found_error"],
  method: [405, "invalid_request_error"],
  "too-large": [413, "request_too_large"],
  context: [400, "invalid_request_error"],
  rate: [429, "rate_limit_error"],
  quota: [429, "rate_limit_error"],
  credit: [402, "billing_error"],
  overloaded: [529, "overloaded_error"],
  "time-out": [504, "timeout_error"],
  cancelled: [499, "api_error"],
  server: [502, "api_error"],
  internal: [500, "api_error"],
};

const anthropicContextMessage = (failure: GatewayFailure): string => {
  const counts = tokenCounts(failure);
  return counts === undefined
    ? "prompt is too long"
    : `prompt is too long: ${counts.tokens} tokens > ${counts.limit} maximum`;
};

/** Encodes an error of the OpenAI APIs. `param` names the field with the conversation. */
export const openaiError = (failure: GatewayFailure, requestId: string, param: "messages" | "input"): ErrorAnswer => {
  const kind = classOf(failure);
  const [status] = openaiTypes[kind];
  return {
    status,
    headers: { "x-request-id": requestId, "x-should-retry": String(isRetryable(kind)), ...retryHeaders(failure, kind) },
    body: { error: openaiErrorObject(failure, param) },
  };
};

/** Returns the error object of the OpenAI APIs, also used inside streams. */
export const openaiErrorObject = (failure: GatewayFailure, param: "messages" | "input"): JsonObject => {
  const kind = classOf(failure);
  const [, type, code] = openaiTypes[kind];
  return {
    message: kind === "context" ? openaiContextMessage(failure) : openaiMessage(failure),
    type,
    param: kind === "context" ? param : failure.kind === "bad-request" ? (failure.param ?? null) : null,
    code: failure.kind === "unknown-path" ? null : code,
  };
};

const openaiTypes: { readonly [kind in ErrorClass]: readonly [number, string, string | null] } = {
  invalid: [400, "invalid_request_error", "invalid_prompt"],
  token: [401, "invalid_request_error", "invalid_api_key"],
  permission: [403, "invalid_request_error", "insufficient_permissions"],
  "not-found": [404, "invalid_request_error", "model_not_found"],
  method: [405, "invalid_request_error", "method_not_supported"],
  "too-large": [413, "invalid_request_error", null],
  context: [400, "invalid_request_error", "context_length_exceeded"],
  rate: [429, "requests", "rate_limit_exceeded"],
  quota: [429, "insufficient_quota", "insufficient_quota"],
  credit: [429, "insufficient_quota", "insufficient_quota"],
  overloaded: [503, "service_unavailable_error", "server_is_overloaded"],
  "time-out": [504, "server_error", "server_error"],
  cancelled: [499, "server_error", "server_error"],
  server: [502, "server_error", "server_error"],
  internal: [500, "server_error", "server_error"],
};

/** Codex reads the delay from the message. */
const openaiMessage = (failure: GatewayFailure): string => {
  const delay = retryDelay(failure);
  const message = explainGatewayFailure(failure);
  return classOf(failure) === "rate" && delay !== undefined
    ? `Rate limit reached. Please try again in ${delay / 1000}s. ${message}`
    : message;
};

const openaiContextMessage = (failure: GatewayFailure): string => {
  const counts = tokenCounts(failure);
  return counts === undefined
    ? "Your input exceeds the context window of this model. Please adjust your input and try again."
    : `This model's maximum context length is ${counts.limit} tokens. However, your messages resulted in ${counts.tokens} tokens. Please reduce the length of the messages.`;
};

/** Encodes an error of the Gemini API. A daily quota is named so that clients do not wait for it. */
export const geminiError = (failure: GatewayFailure, requestId: string): ErrorAnswer => {
  const kind = classOf(failure);
  const [status, name] = geminiStatuses[kind];
  const details = geminiDetails(failure, kind);
  const message = kind === "context" ? geminiContextMessage(failure) : explainGatewayFailure(failure);
  return {
    status,
    headers: { "x-request-id": requestId, ...retryHeaders(failure, kind) },
    body: { error: { code: status, message, status: name, ...(details.length === 0 ? {} : { details }) } },
  };
};

const geminiStatuses: { readonly [kind in ErrorClass]: readonly [number, string] } = {
  invalid: [400, "INVALID_ARGUMENT"],
  token: [401, "UNAUTHENTICATED"],
  permission: [403, "PERMISSION_DENIED"],
  "not-found": [404, "NOT_FOUND"],
  method: [405, "UNIMPLEMENTED"],
  "too-large": [400, "INVALID_ARGUMENT"],
  context: [400, "INVALID_ARGUMENT"],
  rate: [429, "RESOURCE_EXHAUSTED"],
  quota: [429, "RESOURCE_EXHAUSTED"],
  credit: [429, "RESOURCE_EXHAUSTED"],
  overloaded: [503, "UNAVAILABLE"],
  "time-out": [504, "DEADLINE_EXCEEDED"],
  cancelled: [499, "CANCELLED"],
  server: [502, "INTERNAL"],
  internal: [500, "INTERNAL"],
};

const geminiDetails = (failure: GatewayFailure, kind: ErrorClass): readonly JsonObject[] => {
  const delay = retryDelay(failure);
  const retry = delay === undefined ? [] : [{ "@type": `${rpc}RetryInfo`, retryDelay: `${Math.ceil(delay / 1000)}s` }];
  const span = kind === "rate" ? "PerMinute" : kind === "quota" || kind === "credit" ? "PerDay" : undefined;
  if (span === undefined) return [];
  const violation = { quotaMetric: "parley/requests", quotaId: `GenerateRequests${span}PerProjectPerModel` };
  return [{ "@type": `${rpc}QuotaFailure`, violations: [violation] }, ...retry];
};

const rpc = "type.googleapis.com/google.rpc.";

const geminiContextMessage = (failure: GatewayFailure): string => {
  const counts = tokenCounts(failure);
  return counts === undefined
    ? "The input token count exceeds the maximum number of tokens allowed."
    : `The input token count (${counts.tokens}) exceeds the maximum number of tokens allowed (${counts.limit}).`;
};

const isRetryable = (kind: ErrorClass): boolean =>
  kind === "rate" || kind === "overloaded" || kind === "time-out" || kind === "server" || kind === "internal";

const retryDelay = (failure: GatewayFailure): number | undefined =>
  "retryAfter" in failure ? failure.retryAfter : undefined;

const retryHeaders = (failure: GatewayFailure, kind: ErrorClass): { readonly [name: string]: string } => {
  const delay = retryDelay(failure);
  if (delay === undefined) return kind === "method" && failure.kind === "bad-method" ? { allow: failure.allowed } : {};
  return { "retry-after": String(Math.ceil(delay / 1000)), "retry-after-ms": String(Math.ceil(delay)) };
};

/** Finds the prompt's tokens and the limit in the target's message: the two largest numbers, where there are two. */
const tokenCounts = (failure: GatewayFailure): { readonly tokens: number; readonly limit: number } | undefined => {
  const detail = "detail" in failure ? (failure.detail ?? "") : "";
  const numbers = [...detail.matchAll(/\d[\d,]*/g)]
    .map(([digits]) => Number(digits.replaceAll(",", "")))
    .filter((count) => Number.isSafeInteger(count) && count >= 100)
    .toSorted((one, other) => other - one);
  const [tokens, limit] = numbers;
  return tokens === undefined || limit === undefined || tokens === limit ? undefined : { tokens, limit };
};
