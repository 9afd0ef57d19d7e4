import { isObject } from "../conversation/json.ts";
import type { Problem } from "./decode.ts";
import { problemOf } from "./problem.ts";
import { numberOf, objectOf, stringOf } from "./reader.ts";

/** The error a body reports; undefined for an answer, or for nothing. */
export const chatProblem = (body: unknown): Problem | undefined => {
  const { base_resp: minimax, error } = objectOf(body);
  if (hasFailed(minimax))
    return withNumber({ message: stringOf(minimax["status_msg"]) || wordless }, minimax["status_code"]);
  const problem = problemOf(body);
  return problem === undefined ? undefined : withNumber(problem, objectOf(error)["code"]);
};

/** The error a frame of a stream reports. A chunk with choices is an answer, unless it names an error. */
export const chunkProblem = (data: unknown): Problem | undefined => {
  if (Array.isArray(data)) return chatProblem(data);
  const { error, base_resp: minimax, object, type, code, message, choices } = objectOf(data);
  const isNamed = isObject(error) ? Object.values(error).some(Boolean) : typeof error === "string" && error !== "";
  const isCoded = code !== undefined && typeof message === "string" && !Array.isArray(choices);
  return isNamed || isCoded || object === "error" || type === "error" || hasFailed(minimax)
    ? chatProblem(data)
    : undefined;
};

/** An error nothing is known of. */
export const wordless = "The server reports an error and does not say which.";

/** MiniMax answers 200 and reports the error in the body. */
const hasFailed = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && numberOf(value["status_code"]) !== undefined && value["status_code"] !== 0;

/** Some vendors number their errors, in more digits than a status has. */
const withNumber = (problem: Problem, number: unknown): Problem => {
  const code = typeof number === "number" ? String(number) : stringOf(number);
  return problem.code !== undefined || code === undefined || !/^\d{4,}$/.test(code) ? problem : { ...problem, code };
};
