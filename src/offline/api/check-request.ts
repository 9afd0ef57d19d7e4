import type { HttpRequest } from "../../world/net.ts";
import { isObject } from "../json.ts";

/** An error response in the API's format. */
export type DemoApiError = {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param?: string;
  readonly code?: string;
};

/** Returns the error of an invalid request; undefined for a valid one. */
export const checkRequest = ({ method, url }: HttpRequest, body: unknown): DemoApiError | undefined => {
  if (!/^offline:\/*chat\/completions$/.test(url) || method !== "POST")
    return apiError(`Unknown request URL: ${method} ${url}.`, { status: 404, code: "unknown_url" });
  if (body === undefined) return apiError("We could not parse the JSON body of your request.");
  if (!isObject(body)) return apiError("The body is not a JSON object.");
  const { model, messages } = body;
  if (typeof model !== "string" || model === "")
    return apiError("you must provide a model parameter", { param: "model" });
  if (!models.includes(model))
    return apiError(`The model \`${model}\` does not exist; there is \`${models[0]}\`.`, {
      status: 404,
      param: "model",
      code: "model_not_found",
    });
  if (!Array.isArray(messages) || messages.length === 0)
    return apiError("'messages' must be a list with at least one message.", { param: "messages" });
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    const wrong = checkMessage(message);
    if (wrong !== undefined) return apiError(`messages[${index}]: ${wrong}`, { param: `messages.[${index}]` });
  }
  return undefined;
};

/** The demo model, and its former name. */
const models: readonly string[] = ["parley", "script"];

const roles: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool"]);

const checkMessage = (message: unknown): string | undefined => {
  if (!isObject(message)) return "expected an object";
  const { role, content, tool_call_id: id, tool_calls: calls } = message;
  if (!roles.has(role)) return "'role' must be one of system, developer, user, assistant, tool";
  if (role === "tool" && typeof id !== "string") return "a message of role 'tool' needs a 'tool_call_id'";
  if (typeof content === "string" || Array.isArray(content)) return undefined;
  const isSilent = (content === null || content === undefined) && role === "assistant" && Array.isArray(calls);
  return isSilent ? undefined : "'content' must be a text or a list of parts";
};

const apiError = (message: string, more: Partial<DemoApiError> = {}): DemoApiError => ({
  status: 400,
  type: "invalid_request_error",
  message,
  ...more,
});
