import { isObject } from "../../conversation/json.ts";
import type { ApiError } from "../decode/events.ts";
import { parseApiError } from "../decode/api-error.ts";
import { numberOf, objectOf, stringOf } from "../reader.ts";

/** The error a body reports; undefined for an answer, or for nothing. */
export const parseChatError = (body: unknown): ApiError | undefined => {
  const { base_resp: minimax, error } = objectOf(body);
  if (hasFailed(minimax))
    return withNumericCode({ message: stringOf(minimax["status_msg"]) || unknownErrorMessage }, minimax["status_code"]);
  const problem = parseApiError(body);
  return problem === undefined ? undefined : withNumericCode(problem, objectOf(error)["code"]);
};

/** The error a frame of a stream reports. A chunk with choices is an answer, unless it names an error. */
export const parseChunkError = (data: unknown): ApiError | undefined => {
  if (Array.isArray(data)) return parseChatError(data);
  const { error, base_resp: minimax, object, type, code, message, choices } = objectOf(data);
  const isNamed = isObject(error) ? Object.values(error).some(Boolean) : typeof error === "string" && error !== "";
  const isCoded = code !== undefined && typeof message === "string" && !Array.isArray(choices);
  return isNamed || isCoded || object === "error" || type === "error" || hasFailed(minimax)
    ? parseChatError(data)
    : undefined;
};

/** An error nothing is known of. */
export const unknownErrorMessage = "The server reports an error and does not say which.";

/** MiniMax answers 200 and reports the error in the body. */
const hasFailed = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && numberOf(value["status_code"]) !== undefined && value["status_code"] !== 0;

/** Some vendors number their errors, in more digits than a status has. */
const withNumericCode = (problem: ApiError, number: unknown): ApiError => {
  const code = typeof number === "number" ? String(number) : stringOf(number);
  return problem.code !== undefined || code === undefined || !/^\d{4,}$/.test(code) ? problem : { ...problem, code };
};
