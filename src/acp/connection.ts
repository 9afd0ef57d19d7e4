import { isObject } from "../conversation/json.ts";
import { errorCodes, RpcError } from "./rpc-error.ts";

/** The id of a request. */
export type RequestId = string | number | null;

/** Parameters as received: an object, whatever is in it. */
export type RawParams = Readonly<Record<string, unknown>>;

/** The methods a connection serves. */
export type ConnectionHandlers = {
  /** Answers a request. The signal is aborted when the client cancels this request, or is gone. */
  readonly request: (method: string, params: RawParams, signal: AbortSignal) => Promise<object>;
  readonly notification: (method: string, params: RawParams) => void;
};

/**
 * A JSON-RPC 2.0 connection to a client. Every message is one line. A request is answered exactly once; what was sent
 * before the answer is written before it.
 */
export class Connection {
  readonly #write: (line: string) => void;
  readonly #handlers: ConnectionHandlers;
  readonly #received = new Map<RequestId, AbortController>();
  readonly #sent = new Map<number, PendingRequest>();
  #nextId = 1;
  #isClosed = false;

  constructor(write: (line: string) => void, handlers: ConnectionHandlers) {
    this.#write = write;
    this.#handlers = handlers;
  }

  /** Handles one line of the client. */
  receive(line: string): void {
    const message = parseLine(line);
    if (message instanceof RpcError) return this.#answer(null, { error: describe(message) });
    const { id, method, params } = message;
    if (typeof method !== "string") return this.#receiveAnswer(message);
    if (id === undefined) return this.#receiveNotification(method, isObject(params) ? params : {});
    if (!isRequestId(id)) return this.#answer(null, { error: describe(invalidRequest) });
    void this.#receiveRequest(id, method, isObject(params) ? params : {});
  }

  /** Answers a line that was too long to be read. */
  refuseLine(message: string): void {
    this.#answer(null, { error: describe(new RpcError(errorCodes.invalidRequest, message)) });
  }

  /** Sends a request and resolves to its result. Aborting the signal cancels the request at the client, too. */
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || signal?.aborted === true) return reject(requestCancelled());
      const id = this.#nextId++;
      const abort = (): void => {
        this.#sent.delete(id);
        this.notify("$/cancel_request", { requestId: id });
        reject(requestCancelled());
      };
      signal?.addEventListener("abort", abort, { once: true });
      const release = (): void => signal?.removeEventListener("abort", abort);
      this.#sent.set(id, { resolve, reject, release });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  /** Cancels all requests in both directions. Nothing is written any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reject, release } of this.#sent.values()) {
      release();
      reject(requestCancelled());
    }
    this.#sent.clear();
    for (const controller of this.#received.values()) controller.abort();
  }

  async #receiveRequest(id: RequestId, method: string, params: RawParams): Promise<void> {
    if (this.#received.has(id))
      return this.#answer(null, { error: describe(new RpcError(errorCodes.invalidRequest, "Repeated request id.")) });
    const controller = new AbortController();
    this.#received.set(id, controller);
    let answer: object;
    try {
      answer = { result: await this.#handlers.request(method, params, controller.signal) };
    } catch (error) {
      answer = { error: describe(error) };
    }
    this.#received.delete(id);
    this.#answer(id, answer);
  }

  #receiveNotification(method: string, params: RawParams): void {
    if (method !== "$/cancel_request") return this.#handlers.notification(method, params);
    const { requestId } = params;
    if (isRequestId(requestId)) this.#received.get(requestId)?.abort();
  }

  /** An answer to a request that ended or never was is ignored. */
  #receiveAnswer({ id, result, error }: RawParams): void {
    const pending = typeof id === "number" ? this.#sent.get(id) : undefined;
    if (pending === undefined || typeof id !== "number") return;
    this.#sent.delete(id);
    pending.release();
    if (error === undefined) return pending.resolve(result);
    const { code, message } = isObject(error) ? error : {};
    pending.reject(
      new RpcError(
        typeof code === "number" ? code : errorCodes.internal,
        typeof message === "string" ? message : "The client answered with an error.",
      ),
    );
  }

  #answer(id: RequestId, answer: object): void {
    this.#send({ id, ...answer });
  }

  #send(message: object): void {
    if (!this.#isClosed) this.#write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

type PendingRequest = {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RpcError) => void;
  readonly release: () => void;
};

const parseError = new RpcError(errorCodes.parse, "Not a JSON object.");
const batchError = new RpcError(errorCodes.invalidRequest, "One message per line: batches are not supported.");
const invalidRequest = new RpcError(errorCodes.invalidRequest, "A request id is a string, a number or null.");

const requestCancelled = (): RpcError => new RpcError(errorCodes.cancelled, "The request was cancelled.");

const parseLine = (line: string): RawParams | RpcError => {
  try {
    const value: unknown = JSON.parse(line);
    if (Array.isArray(value)) return batchError;
    return isObject(value) ? value : parseError;
  } catch {
    return parseError;
  }
};

const isRequestId = (id: unknown): id is RequestId => typeof id === "string" || typeof id === "number" || id === null;

/** The error as it is sent. An error that is not for the person is a bug: its stack goes to stderr, not to the client. */
const describe = (error: unknown): object => {
  if (error instanceof RpcError)
    return { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`parley: This is a bug in Parley.\n${text}\n`);
  const message = error instanceof Error ? error.message : String(error);
  return { code: errorCodes.internal, message, data: { error: message } };
};
