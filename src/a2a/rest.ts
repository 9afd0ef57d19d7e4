import type { ServerResponse } from "node:http";
import { sendJson } from "../http/answer.ts";
import { toA2aError } from "./failure.ts";
import { streamItems } from "./json-rpc.ts";
import type { A2aOperations } from "./operations.ts";
import { A2aError } from "./protocol.ts";

type RestCall = {
  readonly operations: A2aOperations;
  readonly method: string;
  /** The path below the base of the binding. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly readBody: () => Promise<unknown>;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  readonly version: string | undefined;
};

const mediaType = { "content-type": "application/a2a+json" };

/** Answers a request of the HTTP+JSON binding of A2A 1.0. */
export const answerRest = async (call: RestCall): Promise<void> => {
  const { response, version } = call;
  try {
    if (version !== undefined && version !== "" && !/^1(\.\d+)*$/.test(version))
      throw new A2aError("VERSION_NOT_SUPPORTED");
    await answerPath(call);
  } catch (error) {
    const { status, message, details, reason } = toA2aError(error);
    sendJson(response, status, { error: { code: status, status: reason, message, details } }, mediaType);
  }
};

const answerPath = async ({ operations, method, path, query, readBody, response, signal }: RestCall): Promise<void> => {
  const send = (value: unknown): void => sendJson(response, 200, value, mediaType);
  const [, id, verb] = /^\/tasks\/([^/:]+)(?::(\w+))?$/.exec(path) ?? [];
  if (method === "POST" && path === "/message:send")
    return send({ task: await operations.send(await readBody(), signal) });
  if (method === "POST" && path === "/message:stream")
    return streamItems(response, operations.stream(await readBody(), signal), (item) => JSON.stringify(item));
  if (method === "GET" && path === "/tasks") return send(await operations.list(Object.fromEntries(query)));
  if (method === "GET" && id !== undefined && verb === undefined)
    return send(
      await operations.get({
        id,
        ...(query.has("historyLength") ? { historyLength: query.get("historyLength") } : {}),
      }),
    );
  if (method === "POST" && id !== undefined && verb === "cancel") return send(await operations.cancel({ id }, signal));
  if (id !== undefined && verb === "subscribe")
    return streamItems(response, operations.subscribe({ id }, signal), (item) => JSON.stringify(item));
  if (path === "/extendedAgentCard") throw new A2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED");
  if (/^\/tasks\/[^/]+\/pushNotificationConfigs(\/|$)/.test(path))
    throw new A2aError("PUSH_NOTIFICATION_NOT_SUPPORTED");
  throw new A2aError("METHOD_NOT_FOUND", "Unknown path.");
};
