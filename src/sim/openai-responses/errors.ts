import { toPath } from "../../rules/openai/error-text.ts";
import type { HttpHeaders } from "../../world/net.ts";
import type { ApiRefusal, CheckFailure, SimProvider } from "../family.ts";
import type { ResponsesQuirks } from "./providers.ts";

/** Encodes a refusal in the vendor's format, with the vendor's status where it differs. */
export const encodeError = (
  refusal: ApiRefusal,
  { quirks }: SimProvider<ResponsesQuirks>,
): { readonly body: unknown; readonly headers: HttpHeaders; readonly status?: number } => {
  const headers = { ...requestIdHeaders(refusal.ordinal ?? 0, quirks.vendor), ...refusal.headers };
  switch (quirks.vendor) {
    case "openai":
      return { body: { error: errorOf(refusal) }, headers, ...statusFor(refusal, openaiStatus) };
    case "azure":
      return { body: { error: azureError(refusal) }, headers };
    case "xai":
      return { body: xaiError(refusal), headers, ...statusFor(refusal, xaiStatus) };
  }
};

/** The request id headers of every response. */
export const requestIdHeaders = (ordinal: number, vendor: ResponsesQuirks["vendor"]): HttpHeaders => {
  const digits = String(ordinal).padStart(12, "0");
  switch (vendor) {
    case "openai":
      return { "x-request-id": `req_${digits.padStart(32, "0")}`, "openai-version": "2020-10-01" };
    case "azure":
      return { "apim-request-id": `00000000-0000-4000-8000-${digits}`, "x-ms-region": "East US 2" };
    case "xai":
      return { "x-request-id": `00000000-0000-4000-8000-${digits}` };
  }
};

type FailedCheck = CheckFailure["check"];

const statusFor = (
  { about }: ApiRefusal,
  statuses: { readonly [check in FailedCheck]?: number },
): { readonly status?: number } => {
  const status = about === undefined ? undefined : statuses[about.check];
  return status === undefined ? {} : { status };
};

/** OpenAI answers an unknown model, and xAI a wrong key, with 400. */
const openaiStatus: { readonly [check in FailedCheck]?: number } = { "no-model": 400 };
const xaiStatus: { readonly [check in FailedCheck]?: number } = { "wrong-key": 400, "too-large": 413 };

/** OpenAI's error object. */
export type OpenaiError = {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
};

/** The error object of a refusal, also used in `error` events and failed responses. */
export const errorOf = (refusal: ApiRefusal): OpenaiError => {
  const { about, kind, message } = refusal;
  if (about !== undefined) return checkError(about);
  switch (kind) {
    case "bad-request":
    case "not-found":
      return { message, type: invalid, param: paramOf(refusal), code: codeOf(message) };
    case "bad-key":
      return { message, type: invalid, param: null, code: "invalid_api_key" };
    case "no-permission":
      return { message, type: invalid, param: null, code: "insufficient_permissions" };
    case "too-large":
      return { message, type: invalid, param: null, code: null };
    case "context":
      return { message, type: invalid, param: "input", code: "context_length_exceeded" };
    case "rate-limited":
      return { message, type: "tokens", param: null, code: "rate_limit_exceeded" };
    case "no-credit":
    case "quota":
      return { message, type: "insufficient_quota", param: null, code: "insufficient_quota" };
    case "overloaded":
      return { message, type: "service_unavailable_error", param: null, code: "server_is_overloaded" };
    case "server":
      return { message, type: "server_error", param: null, code: "server_error" };
  }
};

const invalid = "invalid_request_error";

const checkError = (about: CheckFailure): OpenaiError => {
  const plain = (message: string): OpenaiError => ({ message, type: invalid, param: null, code: null });
  switch (about.check) {
    case "no-key":
      return plain("Missing bearer or basic authentication in header");
    case "wrong-key":
      return {
        ...plain(
          `Incorrect API key provided: ${maskKey(about.key)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
        ),
        code: "invalid_api_key",
      };
    case "wrong-signature":
      return plain("Invalid authorization header");
    case "no-model":
      return {
        ...plain(`The requested model '${about.model}' does not exist.`),
        param: "model",
        code: "model_not_found",
      };
    case "no-route":
      return plain(`Invalid URL (${about.method} ${about.path})`);
    case "not-json":
      return plain(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
      );
    case "too-large":
      return plain(`Maximum content size limit (${about.limit}) exceeded (${about.bytes} bytes read)`);
    case "context":
      return {
        ...plain("Your input exceeds the context window of this model. Please adjust your input and try again."),
        param: "input",
        code: "context_length_exceeded",
      };
  }
};

const maskKey = (key: string): string =>
  key.length < 12 ? "*".repeat(key.length) : `${key.slice(0, 4)}${"*".repeat(key.length - 8)}${key.slice(-4)}`;

/** The `param` of an error: `input` for problems of the whole conversation, null for encrypted reasoning. */
const paramOf = ({ message, pointer }: ApiRefusal): string | null => {
  if (pointer === undefined || message.startsWith("The encrypted content ")) return null;
  return aboutWholeInput.test(message) ? "input" : toPath(pointer) || null;
};

const aboutWholeInput =
  /^(No tool (output|call) found|Duplicate |Item '|Item with id|The file type you uploaded|Missing namespace|One of 'input')/;

const codeOf = (message: string): string | null => codes.find(([words]) => words.test(message))?.[1] ?? null;

const codes: readonly (readonly [RegExp, string])[] = [
  [/^The encrypted content /, "invalid_encrypted_content"],
  [/^Previous response with id /, "previous_response_not_found"],
  [/^Missing required parameter/, "missing_required_parameter"],
  [/^Unknown parameter/, "unknown_parameter"],
  [/^Unsupported parameter/, "unsupported_parameter"],
  [/^Unsupported value/, "unsupported_value"],
  [/^Invalid type for/, "invalid_type"],
  [/^Invalid schema for function/, "invalid_function_parameters"],
  [/^Invalid schema for response_format/, "invalid_json_schema"],
  [/: string too long\./, "string_above_max_length"],
  [/: array too long\./, "array_above_max_length"],
  [/: empty array\./, "empty_array"],
  [/: empty string\./, "string_below_min_length"],
  [/: decimal below minimum/, "decimal_below_min_value"],
  [/: decimal above maximum/, "decimal_above_max_value"],
  [/: integer below minimum/, "integer_below_min_value"],
  [/: integer above maximum/, "integer_above_max_value"],
  [/^The file type you uploaded/, "unsupported_file"],
  [/^Mutually exclusive parameters/, "mutually_exclusive_parameters"],
  [/^Invalid (value|'|file data)/, "invalid_value"],
];

/** Azure's gateway has its own errors; others are OpenAI's. */
const azureError = (refusal: ApiRefusal): unknown => {
  const { about, kind, message } = refusal;
  switch (about?.check) {
    case "no-key":
    case "wrong-key":
      return {
        code: "401",
        message:
          "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
      };
    case "no-model":
      return {
        code: "DeploymentNotFound",
        message:
          "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
      };
    case "no-route":
      return { code: "404", message: "Resource not found" };
    default:
      return kind === "rate-limited" ? { code: "too_many_requests", message } : errorOf(refusal);
  }
};

const xaiError = (refusal: ApiRefusal): unknown => ({ code: xaiCodes[refusal.kind], error: xaiMessage(refusal) });

const xaiMessage = ({ about, message }: ApiRefusal): string => {
  switch (about?.check) {
    case "no-key":
      return "No API key provided. Specify your API key in the 'Authorization' header (Authorization: Bearer <key>). You can obtain an API key from https://console.x.ai.";
    case "wrong-key":
      return `Incorrect API key provided: ${maskKey(about.key)}. You can obtain an API key from https://console.x.ai.`;
    case "no-model":
      return `The model ${about.model} does not exist or your team does not have access to it. Please ensure you're using the correct API key. If you believe this is a mistake, please contact support.`;
    case "context":
      return `This model's maximum prompt length is ${about.limit} but the request contains ${about.tokens} tokens.`;
    case "no-route":
      return "The requested resource was not found. Please check the URL and try again.";
    case "not-json":
      return `Failed to parse the request body as JSON: ${about.error}`;
    case "wrong-signature":
    case "too-large":
    case undefined:
      return message;
  }
};

const xaiCodes: { readonly [kind in ApiRefusal["kind"]]: string } = {
  "bad-request": "invalid-argument",
  "bad-key": "invalid-argument",
  "no-permission": "permission-denied",
  "no-credit": "permission-denied",
  "not-found": "not-found",
  "too-large": "invalid-argument",
  context: "invalid-argument",
  "rate-limited": "resource-exhausted",
  quota: "resource-exhausted",
  overloaded: "unavailable",
  server: "internal",
};
