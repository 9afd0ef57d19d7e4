import type { ServerResponse } from "node:http";
import { isObject } from "../conversation/json.ts";
import { sendJson } from "../http/answer.ts";
import { openEventStream } from "../http/event-stream.ts";
import { toA2aError } from "./failure.ts";
import type { A2aOperations } from "./operations.ts";
import { A2aError, type A2aStreamItem, type A2aTask } from "./protocol.ts";
import { itemTo03, methodsOf03, paramsFrom03, taskTo03 } from "./version-0-3.ts";

type RpcCall = {
  readonly operations: A2aOperations;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  /** The A2A-Version header. */
  readonly version: string | undefined;
};

/** Answers a JSON-RPC request of A2A, in 1.0 or, for methods named with a slash, in 0.3. */
export const answerRpc = async (body: unknown, call: RpcCall): Promise<void> => {
  const { response } = call;
  if (!isObject(body) || body["jsonrpc"] !== "2.0" || typeof body["method"] !== "string" || !isId(body["id"]))
    return sendError(response, null, new A2aError("INVALID_REQUEST"));
  const {
    id = null,
    method,
    params,
  } = body as { readonly id?: RpcId; readonly method: string; readonly params?: unknown };
  const older = methodsOf03[method];
  try {
    if (older !== undefined)
      return await answerMethod(older, { ...call, id, params: paramsFrom03(params), encode: version03 });
    if (method.includes("/")) throw new A2aError("METHOD_NOT_FOUND");
    if (call.version !== undefined && call.version !== "" && !/^1(\.\d+)*$/.test(call.version))
      throw new A2aError("VERSION_NOT_SUPPORTED");
    await answerMethod(method, { ...call, id, params, encode: version10 });
  } catch (error) {
    sendError(response, id, toA2aError(error));
  }
};

type RpcId = string | number | null;
const isId = (id: unknown): boolean =>
  id === undefined || id === null || typeof id === "string" || typeof id === "number";

/** How a version writes results. In 0.3 a task is the result itself, in 1.0 a member of it. */
type ResultEncoding = {
  readonly sent: (task: A2aTask) => unknown;
  readonly task: (task: A2aTask) => unknown;
  readonly item: (item: A2aStreamItem) => unknown;
};
const version10: ResultEncoding = { sent: (task) => ({ task }), task: (task) => task, item: (item) => item };
const version03: ResultEncoding = { sent: taskTo03, task: taskTo03, item: itemTo03 };

type MethodCall = RpcCall & { readonly id: RpcId; readonly params: unknown; readonly encode: ResultEncoding };

const answerMethod = async (method: string, call: MethodCall): Promise<void> => {
  const { operations, params, signal, encode, id, response } = call;
  const send = (result: unknown): void => sendJson(response, 200, { jsonrpc: "2.0", id, result });
  switch (method) {
    case "SendMessage":
      return send(encode.sent(await operations.send(params, signal)));
    case "GetTask":
      return send(encode.task(await operations.get(params)));
    case "CancelTask":
      return send(encode.task(await operations.cancel(params, signal)));
    case "ListTasks":
      return send(await operations.list(params));
    case "SendStreamingMessage":
      return sendStream(call, operations.stream(params, signal));
    case "SubscribeToTask":
      return sendStream(call, operations.subscribe(params, signal));
    case "GetExtendedAgentCard":
      throw new A2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED");
    case "CreateTaskPushNotificationConfig":
    case "GetTaskPushNotificationConfig":
    case "ListTaskPushNotificationConfigs":
    case "DeleteTaskPushNotificationConfig":
      throw new A2aError("PUSH_NOTIFICATION_NOT_SUPPORTED");
    default:
      throw new A2aError("METHOD_NOT_FOUND");
  }
};

const sendStream = ({ id, response, encode }: MethodCall, items: AsyncIterable<A2aStreamItem>): Promise<void> =>
  streamItems(response, items, (item) => JSON.stringify({ jsonrpc: "2.0", id, result: encode.item(item) }));

/** Sends the items of a stream. A failure before the first one is an ordinary answer. */
export const streamItems = async (
  response: ServerResponse,
  items: AsyncIterable<A2aStreamItem>,
  encode: (item: A2aStreamItem) => string,
): Promise<void> => {
  let stream: ReturnType<typeof openEventStream> | undefined;
  for await (const item of items) {
    stream ??= openEventStream(response);
    if (!(await stream.send({ data: encode(item) }))) return;
  }
  stream ??= openEventStream(response);
  stream.end();
};

const sendError = (response: ServerResponse, id: RpcId, { code, message, details }: A2aError): void =>
  sendJson(response, 200, { jsonrpc: "2.0", id, error: { code, message, data: details } });
