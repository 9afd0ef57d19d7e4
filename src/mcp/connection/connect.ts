import {
  Client,
  ProtocolError,
  SdkHttpError,
  type RequestOptions,
  type StandardSchemaV1,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { version } from "../../world/version.ts";
import { handlersFor, type McpRequestHandlers } from "../requests/handlers.ts";
import { explainError } from "./explain-error.ts";
import { answerRequests, clientCapabilities } from "../requests/answer.ts";
import { ProgressRouter, type ProgressOptions } from "./progress.ts";
import { listAttempts, type ConnectAttempt, type McpTransportOptions } from "./transports.ts";
import { withTimeout } from "./timeout.ts";

/** A notification of a server. */
export type ServerNotification =
  | { readonly type: "closed" }
  | { readonly type: "list-changed"; readonly list: ListName }
  | { readonly type: "log"; readonly level: string; readonly text: string };

/** The lists a server can have. */
type ListName = "tools" | "resources" | "prompts";

export type McpConnectionOptions = McpTransportOptions & {
  readonly handlers: McpRequestHandlers;
  readonly onNotification: (notification: ServerNotification) => void;
};

/** Options of a request. `onProgress` gets progress notifications. */
export type McpRequestOptions = {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly onProgress?: (text: string) => void;
};

/** A connected server. */
export type McpConnection = {
  /** The server's own title, sanitized; empty where it has none. */
  readonly title: string;
  /** The server's instructions for models; empty where it has none. */
  readonly instructions: string;
  readonly supports: (list: ListName) => boolean;
  /**
   * Sends any request. The result is returned unchecked. Rejects with an `McpServerError`, or with the signal's reason.
   */
  readonly request: (
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: McpRequestOptions,
  ) => Promise<unknown>;
  /** Calls a tool, given as the server described it. */
  readonly callTool: (tool: JsonObject, input: JsonObject, options: McpRequestOptions) => Promise<unknown>;
  /** The last output of the server on stderr. */
  readonly recentStderr: () => string;
  readonly notifyRootsChanged: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Connects to a server with the first attempt that works. */
export const connect = async (options: McpConnectionOptions, asked: McpRequestOptions): Promise<McpConnection> => {
  const attempts = listAttempts(options);
  let failure: unknown;
  for (const [index, attempt] of attempts.entries()) {
    if (index > 0 && !mayBeOtherProtocol(failure, attempts[index - 1])) continue;
    try {
      return await openConnection(options, attempt, asked);
    } catch (error) {
      asked.signal.throwIfAborted();
      // The first attempt is the most likely one, so its error says most.
      failure ??= error;
    }
  }
  throw failure;
};

/** Whether a failure may mean that the server speaks another protocol. */
const mayBeOtherProtocol = (failure: unknown, before: ConnectAttempt | undefined): boolean => {
  const cause = failure instanceof Error ? failure.cause : undefined;
  if (cause instanceof ProtocolError) return true;
  if (before?.recentStderr !== undefined || !(cause instanceof SdkHttpError)) return false;
  return (
    cause.status !== undefined && cause.status >= 400 && cause.status < 500 && ![401, 403, 429].includes(cause.status)
  );
};

const openConnection = async (
  options: McpConnectionOptions,
  attempt: ConnectAttempt,
  asked: McpRequestOptions,
): Promise<McpConnection> => {
  const { config, onNotification } = options;
  const handlers = handlersFor(options.handlers, config.sampling);
  const client = new Client(
    { name: "parley", version },
    {
      capabilities: clientCapabilities(handlers),
      versionNegotiation: { mode: attempt.negotiation, probe: { timeoutMs: 10_000 } },
      listChanged: Object.fromEntries(
        listNames.map((list) => [
          list,
          { autoRefresh: false, debounceMs: 0, onChanged: () => onNotification({ type: "list-changed", list }) },
        ]),
      ),
      // Foreign schemas are not compiled; results are passed on unchecked.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  answerRequests(client, config.name, handlers);
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) =>
    onNotification({ type: "log", level, text: logText(data) }),
  );
  const progress = new ProgressRouter();
  const request: McpConnection["request"] = (method, params, how) =>
    progress.track(how, params, (params, listening) =>
      sendRequest(
        listening,
        (given) => client.request({ method, params } as never, anySchema, given),
        options,
        attempt,
      ),
    );
  const transport = attempt.createTransport();
  transport.onmessage = (message) => progress.handleMessage(message);
  try {
    await sendRequest(asked, (given) => client.connect(transport, given), options, attempt);
  } catch (error) {
    await client.close().catch(() => undefined);
    // The client may have failed before it took over the transport.
    await transport.close().catch(() => undefined);
    throw error;
  }
  client.onclose = () => onNotification({ type: "closed" });
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const offered = { tools, resources, prompts };
  const info = client.getServerVersion();
  return {
    title: sanitizeForTerminal(info?.title ?? info?.name ?? "", "line").slice(0, 200),
    instructions: sanitizeForTerminal(client.getInstructions() ?? "", "visible").slice(0, maxInstructions),
    supports: (list) => offered[list] !== undefined,
    request,
    callTool: (tool, input, how) => {
      const params = { name: tool["name"] as string, arguments: input };
      // The newer protocol repeats some arguments in headers, which only this method supports.
      if (client.getProtocolEra() !== "modern") return request("tools/call", params, how);
      return progress.track(how, params, (told, listening) =>
        sendRequest(
          listening,
          (given) => client.callTool(told as typeof params, { ...given, toolDefinition: tool as never }),
          options,
          attempt,
        ),
      );
    },
    recentStderr: attempt.recentStderr ?? (() => ""),
    notifyRootsChanged: async () => {
      if (handlers.roots !== undefined) await client.sendRootsListChanged().catch(() => undefined);
    },
    close: async () => {
      client.onclose = () => undefined;
      await client.close().catch(() => undefined);
    },
  };
};

const listNames: readonly ListName[] = ["tools", "resources", "prompts"];

const maxInstructions = 4000;

const logText = (data: unknown): string => {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return sanitizeForTerminal(text.slice(0, 2000), "line");
};

/** Results are validated by the caller: one odd part must not cost the rest. */
const anySchema: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "parley", validate: (value) => ({ value }) },
};

/** The longest timer the client can set; the real timeout uses the clock of the world. */
const maxTimerDelay = 2 ** 31 - 1;

const sendRequest = async <Result>(
  {
    signal,
    timeout,
    onActivity,
  }: Pick<McpRequestOptions, "signal" | "timeout"> & Partial<Pick<ProgressOptions, "onActivity">>,
  work: (given: RequestOptions) => Promise<Result>,
  { world, config }: McpConnectionOptions,
  { recentStderr }: ConnectAttempt,
): Promise<Result> => {
  try {
    return await withTimeout({ clock: world.clock, ms: timeout, signal }, (stop, touch) => {
      onActivity?.(touch);
      return work({ signal: stop, timeout: maxTimerDelay });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw explainError(error, config.name, recentStderr?.() ?? "");
  }
};
