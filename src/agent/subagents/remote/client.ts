import { isObject, type JsonObject } from "../../../conversation/json.ts";
import type { FetchFunction } from "../../../mcp/connection/http-guard.ts";
import { createSseParser } from "../../../transport/stream/frames.ts";
import type { AgentInterface } from "./card.ts";
import { RemoteAgentError } from "./remote-agent-error.ts";
import { readItem, type RemoteItem } from "./read-items.ts";

/** The requests of A2A to one agent, whatever its binding and version. */
export type A2aClient = {
  readonly streams: boolean;
  readonly send: (message: OutgoingMessage, signal: AbortSignal) => Promise<RemoteItem>;
  readonly stream: (message: OutgoingMessage, signal: AbortSignal) => AsyncIterable<RemoteItem>;
  readonly subscribe: (task: string, signal: AbortSignal) => AsyncIterable<RemoteItem>;
  readonly get: (task: string, signal: AbortSignal) => Promise<RemoteItem>;
  readonly cancel: (task: string, signal: AbortSignal) => Promise<RemoteItem>;
};

/** A message of the user. */
export type OutgoingMessage = {
  readonly id: string;
  readonly text: string;
  readonly context?: string;
  readonly task?: string;
};

type Operation = "send" | "stream" | "subscribe" | "get" | "cancel";

/** Creates the client for an interface. `fetch` is limited to its server and adds the credential. */
export const createA2aClient = (target: AgentInterface, fetch: FetchFunction): A2aClient => {
  const call = async (operation: Operation, params: JsonObject, signal: AbortSignal): Promise<Response> => {
    const { url, method, body } =
      target.binding === "JSONRPC" ? rpcRequest(target, operation, params) : restRequest(target, operation, params);
    const streams = operation === "stream" || operation === "subscribe";
    const type = target.binding === "JSONRPC" ? "application/json" : "application/a2a+json";
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        redirect: "manual",
        signal,
        headers: {
          accept: streams ? "text/event-stream" : `${type}, application/json`,
          "a2a-version": target.version,
          ...(body === undefined ? {} : { "content-type": type }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new RemoteAgentError(messageOf(error), { isBroken: true, cause: error });
    }
    await refuseStatus(response);
    return response;
  };
  const single = async (operation: Operation, params: JsonObject, signal: AbortSignal): Promise<RemoteItem> => {
    const value = await readJson(await call(operation, params, signal));
    return readItem(target.binding === "JSONRPC" ? rpcResult(value) : value);
  };
  const many = async function* (
    operation: Operation,
    params: JsonObject,
    signal: AbortSignal,
  ): AsyncGenerator<RemoteItem> {
    const response = await call(operation, params, signal);
    const type = mediaTypeOf(response);
    // An agent may answer at once, or refuse, without a stream.
    if (type !== "text/event-stream") {
      const value = await readJson(response);
      yield readItem(target.binding === "JSONRPC" ? rpcResult(value) : value);
      return;
    }
    for await (const data of readEvents(response, signal))
      yield readItem(target.binding === "JSONRPC" ? rpcResult(data) : data);
  };
  const message = (outgoing: OutgoingMessage, isImmediate: boolean): JsonObject => ({
    message: toMessage(outgoing, target.version),
    configuration: {
      acceptedOutputModes: ["text/plain", "text/markdown", "application/json", "image/png", "image/jpeg", "*/*"],
      ...(isImmediate ? (target.version === "0.3" ? { blocking: false } : { returnImmediately: true }) : {}),
    },
  });
  return {
    streams: target.streams,
    // The answer to a question is waited for: at once, the task may still look as it did before.
    send: (outgoing, signal) => single("send", message(outgoing, outgoing.task === undefined), signal),
    stream: (outgoing, signal) => many("stream", message(outgoing, false), signal),
    subscribe: (id, signal) => many("subscribe", { id }, signal),
    get: (id, signal) => single("get", { id }, signal),
    cancel: (id, signal) => single("cancel", { id }, signal),
  };
};

const toMessage = ({ id, text, context, task }: OutgoingMessage, version: AgentInterface["version"]): JsonObject => ({
  ...(version === "0.3" ? { kind: "message" } : {}),
  messageId: id,
  role: version === "0.3" ? "user" : "ROLE_USER",
  parts: [version === "0.3" ? { kind: "text", text } : { text, mediaType: "text/plain" }],
  ...(context === undefined ? {} : { contextId: context }),
  ...(task === undefined ? {} : { taskId: task }),
});

type OutgoingRequest = { readonly url: string; readonly method: "GET" | "POST"; readonly body?: JsonObject };

const methods: { readonly [version in AgentInterface["version"]]: { readonly [operation in Operation]: string } } = {
  "1.0": {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    subscribe: "SubscribeToTask",
    get: "GetTask",
    cancel: "CancelTask",
  },
  "0.3": {
    send: "message/send",
    stream: "message/stream",
    subscribe: "tasks/resubscribe",
    get: "tasks/get",
    cancel: "tasks/cancel",
  },
};

const rpcRequest = (
  { url, version, tenant }: AgentInterface,
  operation: Operation,
  params: JsonObject,
): OutgoingRequest => ({
  url,
  method: "POST",
  body: {
    jsonrpc: "2.0",
    id: 1,
    method: methods[version][operation],
    params: { ...params, ...(tenant === undefined ? {} : { tenant }) },
  },
});

const restRequest = ({ url, tenant }: AgentInterface, operation: Operation, params: JsonObject): OutgoingRequest => {
  const base = tenant === undefined ? url : `${url}/${encodeURIComponent(tenant)}`;
  const { id } = params;
  const task = `${base}/tasks/${encodeURIComponent(typeof id === "string" ? id : "")}`;
  switch (operation) {
    case "send":
    case "stream":
      return { url: `${base}/message:${operation}`, method: "POST", body: params };
    case "subscribe":
      return { url: `${task}:subscribe`, method: "POST", body: {} };
    case "cancel":
      return { url: `${task}:cancel`, method: "POST", body: {} };
    case "get":
      return { url: task, method: "GET" };
  }
};

/** A redirect is not followed: the task, and a credential, are for the server the person agreed to. */
export const refuseStatus = async (response: Response): Promise<void> => {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const target = response.headers.get("location") ?? "";
    throw new RemoteAgentError(
      `It redirects to ${target.slice(0, 200)}. Redirects are not followed: if that is right, put this address into its file.`,
    );
  }
  const value = await readJson(response).catch(() => undefined);
  const error: unknown = isObject(value) ? value["error"] : undefined;
  const said = isObject(error) && typeof error["message"] === "string" ? error["message"] : "";
  if (status === 401 || status === 403)
    throw new RemoteAgentError(`It refused the credential (HTTP ${status}). Check auth in its file. ${said}`.trim());
  throw new RemoteAgentError(`It answered with HTTP ${status}. ${said}`.trim());
};

const mediaTypeOf = (response: Response): string =>
  (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** Reads a JSON body of limited length. */
export const readJson = async (response: Response, most: number = maxBodyBytes): Promise<unknown> => {
  const type = mediaTypeOf(response);
  if (!/[/+]json$/.test(type)) {
    await response.body?.cancel();
    throw new RemoteAgentError(
      `It answered with ${type === "" ? "no content type" : type.slice(0, 100)} instead of JSON.`,
    );
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > most) throw new RemoteAgentError(`Its answer is longer than ${most} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof RemoteAgentError ? error : new RemoteAgentError(messageOf(error), { isBroken: true });
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))) as unknown;
  } catch {
    throw new RemoteAgentError("Its answer is not valid JSON.");
  }
};

const maxBodyBytes = 24 * 2 ** 20;

/** All events of a stream together. One of text alone never gets there. */
const maxStreamBytes = 64 * 2 ** 20;

const readEvents = async function* (response: Response, signal: AbortSignal): AsyncGenerator<unknown> {
  const parser = await createSseParser();
  let length = 0;
  const chunks = (response.body ?? new ReadableStream<Uint8Array>())[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        signal.throwIfAborted();
        throw new RemoteAgentError(messageOf(error), { isBroken: true, cause: error });
      });
      if (next.done === true) break;
      length += next.value.length;
      if (length > maxStreamBytes) throw new RemoteAgentError(`It sent more than ${maxStreamBytes} bytes.`);
      const { frames, error } = parser.push(next.value);
      for (const { data } of frames) yield data;
      if (error !== undefined) throw new RemoteAgentError("Its stream of events cannot be read.");
    }
    for (const { data } of parser.end().frames) yield data;
  } finally {
    await chunks.return?.().catch(() => undefined);
  }
};

const rpcResult = (value: unknown): unknown => {
  if (!isObject(value)) throw new RemoteAgentError("It sent something that is not JSON-RPC.");
  const { error, result } = value;
  if (isObject(error)) {
    const { message } = error;
    throw new RemoteAgentError(`It refused: ${typeof message === "string" ? message.slice(0, 1000) : "no reason"}`);
  }
  return result;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
