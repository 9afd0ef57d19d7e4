import { isObject } from "../conversation/json.ts";
import type { Clock } from "../world/world.ts";

/** Carries JSON-RPC messages to and from an editor. */
export type MessageChannel = {
  /** Rejects if the message did not arrive. */
  readonly send: (message: object) => Promise<void>;
  readonly close: () => void;
};

/** Receives the messages of a channel, parsed but unchecked, and its end. */
type ChannelListener = { readonly onMessage: (message: unknown) => void; readonly onClose: () => void };

/** Options of a JSON-RPC client. */
export type RpcOptions = {
  readonly clock: Pick<Clock, "after">;
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  readonly onClose: () => void;
};

type PendingRequest = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

/** The MCP version all these editors know. */
const protocolVersion = "2024-11-05";

/** A JSON-RPC client for MCP servers in editors. Answers that nothing waits for, and invalid messages, are ignored. */
export class RpcClient implements ChannelListener {
  readonly #options: RpcOptions;
  readonly #pending = new Map<number, PendingRequest>();
  #channel: MessageChannel | undefined;
  #id = 0;
  #isClosed = false;

  constructor(options: RpcOptions) {
    this.#options = options;
  }

  /** Uses this channel, and introduces the client to the server. Rejects if there is no answer in time. */
  async start(
    channel: MessageChannel,
    { version, timeout }: { readonly version: string; readonly timeout: number },
  ): Promise<void> {
    this.#channel = channel;
    const clientInfo = { name: "parley", version };
    await this.request("initialize", { protocolVersion, capabilities: {}, clientInfo }, timeout);
    this.notify("notifications/initialized", {});
  }

  /** Sends a request. Rejects on an error, when the channel closes, and after `timeout` milliseconds if given. */
  request(method: string, params: object, timeout?: number): Promise<unknown> {
    if (this.#isClosed || this.#channel === undefined) return Promise.reject(new Error("Not connected."));
    const channel = this.#channel;
    const id = (this.#id += 1);
    return new Promise((resolve, reject) => {
      const cancelTimer =
        timeout === undefined
          ? () => undefined
          : this.#options.clock.after(timeout, () => settle(() => reject(new Error(`No answer to ${method}.`))));
      const settle = (work: () => void): void => {
        cancelTimer();
        this.#pending.delete(id);
        work();
      };
      this.#pending.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      });
      channel.send({ jsonrpc: "2.0", id, method, params }).catch(() => {
        this.#pending.get(id)?.reject(new Error(`The editor did not accept ${method}.`));
      });
    });
  }

  notify(method: string, params: object): void {
    if (!this.#isClosed) this.#channel?.send({ jsonrpc: "2.0", method, params }).catch(() => undefined);
  }

  /** Calls a tool and returns the texts of its result. Rejects if the result is an error. */
  async callTool(name: string, args: object, timeout?: number): Promise<readonly string[]> {
    const result = await this.request("tools/call", { name, arguments: args }, timeout);
    if (!isObject(result) || result["isError"] === true) throw new Error(`${name} failed.`);
    const { content } = result;
    return (Array.isArray(content) ? content : []).flatMap((part: unknown) =>
      isObject(part) && part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : [],
    );
  }

  close(): void {
    this.#end();
    this.#channel?.close();
  }

  readonly onMessage = (message: unknown): void => {
    if (this.#isClosed || !isObject(message)) return;
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      if (id === undefined) this.#options.onNotification(method, isObject(params) ? params : {});
      else this.#answer(id, method);
      return;
    }
    const waiting = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error("The editor refused the request."));
  };

  readonly onClose = (): void => {
    if (this.#isClosed) return;
    this.#end();
    this.#options.onClose();
  };

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(new Error("The connection is closed."));
  }

  /** Servers may ask whether the client is alive; they may ask nothing else. */
  #answer(id: unknown, method: string): void {
    const answer = method === "ping" ? { result: {} } : { error: { code: -32_601, message: "Method not found" } };
    this.#channel?.send({ jsonrpc: "2.0", id, ...answer }).catch(() => undefined);
  }
}
