import type { Json, ApiRefusal, CheckFailure } from "../family.ts";
import type { ChatErrors } from "./quirks.ts";

/** The error format of a vendor. */
type ChatErrorStyle = {
  /**
   * Messages for failed checks, with facts in braces. Default: OpenAI's messages. Other refusals already have a
   * message.
   */
  readonly messages: { readonly [check in CheckFailure["check"]]?: string };
  /** Statuses that differ from the default. */
  readonly statuses?: { readonly [check in CheckFailure["check"]]?: number };
  /** Encodes the envelope. `number` is the request's number in hexadecimal digits. */
  readonly body: (error: ChatError) => Json;
};

/** A refusal with its final message and status. */
export type ChatError = {
  readonly message: string;
  readonly status: number;
  readonly kind: ApiRefusal["kind"];
  readonly check: CheckFailure["check"] | undefined;
  readonly pointer: string;
  readonly number: string;
};

/** A name for each kind of refusal. */
export type RefusalKindNames = { readonly [kind in ApiRefusal["kind"]]: string };

/** Creates a vendor's error encoder from its format. */
export const defineErrors =
  ({ messages, statuses, body }: ChatErrorStyle): ChatErrors =>
  ({ about, kind, pointer = "", ...refusal }, number) => {
    const check = about?.check;
    const status = (check === undefined ? undefined : statuses?.[check]) ?? refusal.status;
    const message = about === undefined ? refusal.message : (fillTemplate(messages, about) ?? refusal.message);
    return { status, body: body({ message, status, kind, check, pointer, number }) };
  };

const fillTemplate = (words: ChatErrorStyle["messages"], about: CheckFailure): string | undefined => {
  const template = words[about.check] ?? openaiMessages[about.check];
  const facts: Json = { ...about, ...("key" in about ? { key: maskKey(about.key), tail: about.key.slice(-4) } : {}) };
  if (about.check === "no-model" && about.model === "") return "you must provide a model parameter";
  return template?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => (name in facts ? String(facts[name]) : whole));
};

const maskKey = (key: string): string => (key.length < 12 ? "****" : `${key.slice(0, 8)}****${key.slice(-4)}`);

const openaiMessages: ChatErrorStyle["messages"] = {
  "no-key":
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  "wrong-key":
    "Incorrect API key provided: {key}. You can find your API key at https://platform.openai.com/account/api-keys.",
  "no-model": "The model `{model}` does not exist or you do not have access to it.",
  "no-route": "Invalid URL ({method} {path})",
  "not-json": "We could not parse the JSON body of your request.",
  "too-large": "Maximum content size limit ({limit}) exceeded ({bytes} bytes read)",
  context:
    "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages.",
};

/** OpenAI's envelope: type, param and code. */
export const openaiErrors: ChatErrors = defineErrors({
  messages: {},
  body: (error) => ({
    error: { message: error.message, type: openaiTypes[error.kind], param: paramOf(error), code: openaiCode(error) },
  }),
});

/** OpenAI's error types, which most compatible APIs share. */
export const openaiTypes: RefusalKindNames = {
  "bad-request": "invalid_request_error",
  "bad-key": "invalid_request_error",
  "no-permission": "invalid_request_error",
  "no-credit": "insufficient_quota",
  "not-found": "invalid_request_error",
  "too-large": "invalid_request_error",
  context: "invalid_request_error",
  "rate-limited": "requests",
  quota: "insufficient_quota",
  overloaded: "server_error",
  server: "server_error",
};

/** OpenAI's codes by kind; a bad request has codes by its message. */
export const openaiCodes: Partial<RefusalKindNames> = {
  "bad-key": "invalid_api_key",
  "no-credit": "insufficient_quota",
  "not-found": "model_not_found",
  context: "context_length_exceeded",
  "rate-limited": "rate_limit_exceeded",
  quota: "insufficient_quota",
};

const openaiCode = ({ kind, message, check }: ChatError): string | null => {
  if (check === "no-key" || check === "no-route") return null;
  if (kind !== "bad-request") return openaiCodes[kind] ?? null;
  return codesByMessage.find(([words]) => words.test(message))?.[1] ?? null;
};

const codesByMessage: readonly (readonly [RegExp, string])[] = [
  [/^Missing required parameter/, "missing_required_parameter"],
  [/^Invalid type for/, "invalid_type"],
  [/^Unknown parameter/, "unknown_parameter"],
  [/^Unsupported value/, "unsupported_value"],
  [/^Unsupported parameter/, "unsupported_parameter"],
  [/string too long/, "string_above_max_length"],
  [/array too long/, "array_above_max_length"],
  [/empty array/, "empty_array"],
  [/integer below minimum/, "integer_below_min_value"],
  [/decimal below minimum/, "decimal_below_min_value"],
  [/decimal above maximum/, "decimal_above_max_value"],
  [/^Invalid schema for function/, "invalid_function_parameters"],
  [/^Invalid ('|value)/, "invalid_value"],
];

/** The `param` of an error. A misplaced part is reported at its message, as the text says. */
const paramOf = ({ kind, pointer, message }: ChatError): string | null => {
  if (kind === "context") return "messages";
  const blamed = /^Invalid '(messages\[\d+\])'\./.exec(message)?.[1];
  return blamed ?? (pointer === "" ? null : pathOf(pointer));
};

/** A pointer as OpenAI writes it: `/messages/3/content/0` becomes `messages[3].content[0]`. */
const pathOf = (pointer: string): string =>
  pointer
    .slice(1)
    .split("/")
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("");
