import { isObject } from "../../conversation/json.ts";
import type { ApiError } from "../decode/events.ts";
import { parseApiError } from "../decode/api-error.ts";
import { numberOf, objectOf, stringOf } from "../reader.ts";

/** Parses the error a body reports; undefined for a response or an empty body. */
export const parseChatError = (body: unknown): ApiError | undefined => {
  const { base_resp: minimax, error } = objectOf(body);
  if (hasFailed(minimax))
    return withNumericCode({ message: stringOf(minimax["status_msg"]) || unknownErrorMessage }, minimax["status_code"]);
  const apiError = parseApiError(body);
  return apiError === undefined ? undefined : withNumericCode(apiError, objectOf(error)["code"]);
};

/** Parses the error a frame reports. A chunk with choices is a response, unless it has an `error`. */
export const parseChunkError = (data: unknown): ApiError | undefined => {
  if (Array.isArray(data)) return parseChatError(data);
  const { error, base_resp: minimax, object, type, code, message, choices } = objectOf(data);
  const isNamed = isObject(error) ? Object.values(error).some(Boolean) : typeof error === "string" && error !== "";
  const isCoded = code !== undefined && typeof message === "string" && !Array.isArray(choices);
  return isNamed || isCoded || object === "error" || type === "error" || hasFailed(minimax)
    ? parseChatError(data)
    : undefined;
};

/** Message for an error without details. */
export const unknownErrorMessage = "The server reports an error and does not say which.";

/** Whether MiniMax reports an error, which it does in the body of a 200 response. */
const hasFailed = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && numberOf(value["status_code"]) !== undefined && value["status_code"] !== 0;

/** Adds a numeric error code, which has more digits than a status. */
const withNumericCode = (apiError: ApiError, number: unknown): ApiError => {
  const code = typeof number === "number" ? String(number) : stringOf(number);
  return apiError.code !== undefined || code === undefined || !/^\d{4,}$/.test(code) ? apiError : { ...apiError, code };
};
