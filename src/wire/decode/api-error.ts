import { isObject } from "../../conversation/json.ts";
import type { ApiError } from "./events.ts";
import { arrayOf, numberOf, objectOf, stringOf } from "../reader.ts";

/**
 * Parses the error a body or frame reports, in the format of Google, OpenAI, or the gateways and frameworks in front of
 * them: a gateway may refuse a request in its own format.
 */
export const parseApiError = (body: unknown): ApiError | undefined => parseNestedError(body, 4);

type ErrorFields = Record<string, unknown>;

/** Gateways nest errors in errors; `depth` limits how many levels are unwrapped. */
const parseNestedError = (body: unknown, depth: number): ApiError | undefined => {
  if (typeof body === "string") return body.trim() === "" ? undefined : { message: body.trim() };
  if (depth === 0) return undefined;
  if (Array.isArray(body)) return firstErrorIn(body, depth - 1);
  if (!isObject(body)) return undefined;
  const { error, message, detail, errors } = body;
  if (isObject(error)) return parseErrorObject(error, depth - 1);
  if (typeof error === "string" && error !== "")
    return parseErrorObject(
      { ...body, code: error, message: body["error_description"] ?? message ?? error },
      depth - 1,
    );
  if (typeof message === "string" || body["object"] === "error") return parseErrorObject(body, depth - 1);
  if (detail !== undefined && detail !== null) return parseFrameworkError(detail, depth - 1);
  return Array.isArray(errors) ? firstErrorIn(errors, depth - 1) : undefined;
};

const firstErrorIn = (bodies: readonly unknown[], depth: number): ApiError | undefined => {
  for (const body of bodies) {
    const found = parseNestedError(body, depth);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Parses an error object in any vendor's format. */
const parseErrorObject = (error: ErrorFields, depth: number): ApiError => {
  const upstream = parseNestedError(parseQuotedError(objectOf(error["metadata"])["raw"]), depth);
  const [code, ...others] = namesOf(error);
  const details = arrayOf(error["details"]).map(objectOf);
  const reasons = [...others, ...details.flatMap(reasonsIn), ...namesIn(upstream)].filter((reason) => reason !== code);
  const status = statusOf(error);
  const own = stringOf(error["message"]) || code || unknownErrorMessage;
  const message = upstream === undefined || own.includes(upstream.message) ? own : `${own}: ${upstream.message}`;
  const param = stringOf(error["param"]) ?? details.flatMap(fieldsIn)[0];
  const retryAfter = retryDelayIn(error, details) ?? retryDelayInText(own) ?? upstream?.retryAfter;
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(param === undefined ? {} : { param }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(reasons.length === 0 ? {} : { reasons: [...new Set(reasons)] }),
  };
};

const unknownErrorMessage = "The server reports an error and does not say which.";

/** Returns the names of an error, the most specific first. Numbers are statuses; the name "error" says nothing. */
const namesOf = (error: ErrorFields): readonly string[] =>
  [
    error["code"],
    error["status"],
    objectOf(error["metadata"])["error_type"],
    error["type"],
    objectOf(error["innererror"])["code"],
  ].filter((name) => typeof name === "string" && name !== "" && name !== "error" && !/^\d+$/.test(name)) as string[];

const namesIn = (apiError: ApiError | undefined): readonly string[] =>
  apiError === undefined ? [] : [...(apiError.code === undefined ? [] : [apiError.code]), ...(apiError.reasons ?? [])];

const statusOf = (error: ErrorFields): number | undefined =>
  [error["code"], error["status"], error["status_code"], error["http_code"]]
    .map((value) => (typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : numberOf(value)))
    .find((value) => value !== undefined && Number.isInteger(value) && value >= 100 && value < 600);

/** Returns Google's specific reasons: ErrorInfo's reason, and the exceeded quotas. */
const reasonsIn = (detail: ErrorFields): readonly string[] =>
  [detail["reason"], ...arrayOf(detail["violations"]).map((violation) => objectOf(violation)["quotaId"])].filter(
    (reason) => typeof reason === "string",
  );

const fieldsIn = (detail: ErrorFields): readonly string[] =>
  arrayOf(detail["fieldViolations"])
    .map((violation) => objectOf(violation)["field"])
    .filter((field) => typeof field === "string");

/** Parses the `detail` of FastAPI and Mistral: a sentence, or a list of fields with an error each. */
const parseFrameworkError = (detail: unknown, depth: number): ApiError => {
  if (typeof detail === "string") return { message: detail };
  if (isObject(detail)) return parseNestedError(detail, depth) ?? { message: unknownErrorMessage };
  const faults = arrayOf(detail).map(objectOf);
  const message = faults.flatMap(({ msg }) => (typeof msg === "string" ? [msg] : [])).join("; ");
  const param = arrayOf(faults[0]?.["loc"])
    .filter((step) => typeof step === "string" || typeof step === "number")
    .join(".");
  return { message: message || unknownErrorMessage, ...(param === "" ? {} : { param }) };
};

const retryDelayIn = (error: ErrorFields, details: readonly ErrorFields[]): number | undefined => {
  const seconds = numberOf(error["retry_after"]) ?? numberOf(objectOf(error["metadata"])["retry_after_seconds"]);
  if (seconds !== undefined) return seconds < 0 ? undefined : Math.round(seconds * 1000);
  const delays = details.flatMap((detail) => [detail["retryDelay"], objectOf(detail["metadata"])["quotaResetDelay"]]);
  return parseDuration(delays.find((delay) => typeof delay === "string") ?? "");
};

/** Parses the delay a sentence asks for ("retry after 20 seconds"), in milliseconds. */
const retryDelayInText = (sentence: string): number | undefined => {
  const asked = /(?:retry|try again|reset)\w* (?:in|after) /i.exec(sentence);
  return asked === null ? undefined : parseDuration(sentence.slice(asked.index + asked[0].length).slice(0, 40));
};

/** Parses a duration such as 34.07s, 1h16m0.6s, 20 seconds or 120ms, in milliseconds. */
const parseDuration = (text: string): number | undefined => {
  let total: number | undefined;
  const piece =
    /\s*(\d+(?:\.\d+)?)\s*(?:(ms|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hours?)|(d|days?))(?![a-z])/iy;
  for (let match = piece.exec(text); match !== null; match = piece.exec(text))
    total =
      (total ?? 0) + Number(match[1]) * (units[match.findIndex((word, at) => at > 1 && word !== undefined) - 2] ?? 0);
  return total === undefined ? undefined : Math.round(total);
};

/** Milliseconds per millisecond, second, minute, hour and day. */
const units = [1, 1000, 60_000, 3_600_000, 86_400_000] as const;

/** Parses the upstream error a gateway quotes: often JSON as text. */
const parseQuotedError = (raw: unknown): unknown => {
  if (typeof raw !== "string") return raw;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
};
