import { isObject } from "../conversation/json.ts";
import type { Problem } from "./decode.ts";
import { arrayOf, numberOf, objectOf, stringOf } from "./reader.ts";

/**
 * The error a body or a frame reports, in the spelling of Google, of OpenAI, or
 * of the gateways and frameworks in front of them: who serves an API does not
 * decide who refuses a request.
 */
export const problemOf = (body: unknown): Problem | undefined => problemWithin(body, 4);

type Fields = Record<string, unknown>;

/** Gateways wrap errors in errors; `depth` says how many wrappings are opened. */
const problemWithin = (body: unknown, depth: number): Problem | undefined => {
  if (typeof body === "string") return body.trim() === "" ? undefined : { message: body.trim() };
  if (depth === 0) return undefined;
  if (Array.isArray(body)) return firstOf(body, depth - 1);
  if (!isObject(body)) return undefined;
  const { error, message, detail, errors } = body;
  if (isObject(error)) return detailed(error, depth - 1);
  if (typeof error === "string" && error !== "")
    return detailed({ ...body, code: error, message: body["error_description"] ?? message ?? error }, depth - 1);
  if (typeof message === "string" || body["object"] === "error") return detailed(body, depth - 1);
  if (detail !== undefined && detail !== null) return refusedByFramework(detail, depth - 1);
  return Array.isArray(errors) ? firstOf(errors, depth - 1) : undefined;
};

const firstOf = (bodies: readonly unknown[], depth: number): Problem | undefined => {
  for (const body of bodies) {
    const found = problemWithin(body, depth);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** An object that describes an error, whoever's spelling it has. */
const detailed = (error: Fields, depth: number): Problem => {
  const upstream = problemWithin(parsed(objectOf(error["metadata"])["raw"]), depth);
  const [code, ...others] = namesOf(error);
  const details = arrayOf(error["details"]).map(objectOf);
  const reasons = [...others, ...details.flatMap(reasonsIn), ...namesIn(upstream)].filter((reason) => reason !== code);
  const status = statusOf(error);
  const own = stringOf(error["message"]) || code || wordless;
  const message = upstream === undefined || own.includes(upstream.message) ? own : `${own}: ${upstream.message}`;
  const param = stringOf(error["param"]) ?? details.flatMap(fieldsIn)[0];
  const retryAfter = delayIn(error, details) ?? waitIn(own) ?? upstream?.retryAfter;
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(param === undefined ? {} : { param }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(reasons.length === 0 ? {} : { reasons: [...new Set(reasons)] }),
  };
};

const wordless = "The server reports an error and does not say which.";

/** The names an error goes by, the most telling first. Numbers are statuses; "error" says what is known. */
const namesOf = (error: Fields): readonly string[] =>
  [
    error["code"],
    error["status"],
    objectOf(error["metadata"])["error_type"],
    error["type"],
    objectOf(error["innererror"])["code"],
  ].filter((name) => typeof name === "string" && name !== "" && name !== "error" && !/^\d+$/.test(name)) as string[];

const namesIn = (problem: Problem | undefined): readonly string[] =>
  problem === undefined ? [] : [...(problem.code === undefined ? [] : [problem.code]), ...(problem.reasons ?? [])];

const statusOf = (error: Fields): number | undefined =>
  [error["code"], error["status"], error["status_code"], error["http_code"]]
    .map((value) => (typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : numberOf(value)))
    .find((value) => value !== undefined && Number.isInteger(value) && value >= 100 && value < 600);

/** Google's finer reasons: ErrorInfo's reason, and the quotas that were exceeded. */
const reasonsIn = (detail: Fields): readonly string[] =>
  [detail["reason"], ...arrayOf(detail["violations"]).map((violation) => objectOf(violation)["quotaId"])].filter(
    (reason) => typeof reason === "string",
  );

const fieldsIn = (detail: Fields): readonly string[] =>
  arrayOf(detail["fieldViolations"])
    .map((violation) => objectOf(violation)["field"])
    .filter((field) => typeof field === "string");

/** What FastAPI and Mistral say: a sentence, or a list of fields with what is wrong with each. */
const refusedByFramework = (detail: unknown, depth: number): Problem => {
  if (typeof detail === "string") return { message: detail };
  if (isObject(detail)) return problemWithin(detail, depth) ?? { message: wordless };
  const faults = arrayOf(detail).map(objectOf);
  const message = faults.flatMap(({ msg }) => (typeof msg === "string" ? [msg] : [])).join("; ");
  const param = arrayOf(faults[0]?.["loc"])
    .filter((step) => typeof step === "string" || typeof step === "number")
    .join(".");
  return { message: message || wordless, ...(param === "" ? {} : { param }) };
};

const delayIn = (error: Fields, details: readonly Fields[]): number | undefined => {
  const seconds = numberOf(error["retry_after"]) ?? numberOf(objectOf(error["metadata"])["retry_after_seconds"]);
  if (seconds !== undefined) return seconds < 0 ? undefined : Math.round(seconds * 1000);
  const delays = details.flatMap((detail) => [detail["retryDelay"], objectOf(detail["metadata"])["quotaResetDelay"]]);
  return durationOf(delays.find((delay) => typeof delay === "string") ?? "");
};

/** How long a sentence asks to wait, in milliseconds. */
const waitIn = (sentence: string): number | undefined => {
  const asked = /(?:retry|try again|reset)\w* (?:in|after) /i.exec(sentence);
  return asked === null ? undefined : durationOf(sentence.slice(asked.index + asked[0].length).slice(0, 40));
};

/** A duration such as 34.07s, 1h16m0.6s, 20 seconds or 120ms. */
const durationOf = (text: string): number | undefined => {
  let total: number | undefined;
  const piece =
    /\s*(\d+(?:\.\d+)?)\s*(?:(ms|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hours?)|(d|days?))(?![a-z])/iy;
  for (let match = piece.exec(text); match !== null; match = piece.exec(text))
    total =
      (total ?? 0) + Number(match[1]) * (units[match.findIndex((word, at) => at > 1 && word !== undefined) - 2] ?? 0);
  return total === undefined ? undefined : Math.round(total);
};

/** Milliseconds in a millisecond, a second, a minute, an hour, a day. */
const units = [1, 1000, 60_000, 3_600_000, 86_400_000] as const;

/** What a gateway quotes from the server behind it: often JSON, as text. */
const parsed = (raw: unknown): unknown => {
  if (typeof raw !== "string") return raw;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
};
