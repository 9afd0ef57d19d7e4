import { Cooldowns } from "../transport/cooldowns.ts";
import { isObject, type JsonObject } from "../conversation/json.ts";
import { RequestBodyError } from "../http/request-body.ts";
import { createRequestSigner } from "../transport/credentials/request-signer.ts";
import { openTransport, type RequestSigner, type Transport } from "../transport/transport.ts";
import type { ExchangeRecord } from "../wire/exchange.ts";
import type { AnswerEncoder } from "./answers/answer.ts";
import { apiOfPath, findEndpoint, type GatewayEndpoint } from "./endpoints.ts";
import { explainGatewayFailure, type GatewayFailure } from "./answers/failure.ts";
import { identifyClient } from "./clients.ts";
import { failureOf, GatewayError } from "./exchange.ts";
import type { GatewayRequest, GatewayResponse } from "./http-types.ts";
import { listModels } from "./models.ts";
import { defaultLimits, type GatewayLimits, type GatewayOptions } from "./options.ts";
import type { GatewayConfig } from "./routes/config.ts";
import { DailySpending } from "./routes/spending.ts";
import type { Fields } from "./inbound/normalize.ts";
import { SealStore } from "./seal-store.ts";
import { createId } from "../world/random-id.ts";

/** A gateway: answers the requests of clients in their own API, from any provider. */
export type Gateway = {
  readonly handle: (request: GatewayRequest) => Promise<GatewayResponse>;
  readonly limits: GatewayLimits;
};

/** State shared by all operations of a gateway. */
export type GatewayState = {
  readonly options: GatewayOptions;
  readonly transport: Transport;
  /** For targets that are followed by another one: it is asked at once instead of a retry. */
  readonly hastyTransport: Transport;
  readonly signer: RequestSigner;
  readonly cooldowns: Cooldowns;
  readonly spending: DailySpending;
  /** The models reported as having no price. */
  readonly unpriced: Set<string>;
  readonly seals: SealStore;
  readonly limits: GatewayLimits;
  readonly newId: () => string;
};

/** A request with its body read and its client known. */
export type AdmittedRequest = {
  readonly request: GatewayRequest;
  readonly endpoint: GatewayEndpoint;
  readonly client: string | undefined;
  readonly config: GatewayConfig;
  readonly bytes: Uint8Array;
  /** The bytes as text. */
  readonly text: string;
  readonly body: Fields;
  /** The model as the client named it. */
  readonly model: string;
  readonly id: string;
  /** Records the end of the exchange. */
  readonly finish: (result: ExchangeResult) => void;
};

/** The end of an exchange, for the log. */
export type ExchangeResult = Partial<Pick<ExchangeRecord, "out" | "notes" | "usage" | "cost">> & {
  readonly status: number;
  readonly failure?: GatewayFailure;
  /** The model that answered, if its price is unknown. */
  readonly unpriced?: string;
};

/** Opens a gateway. Nothing is sent or loaded before the first request. */
export const openGateway = (options: GatewayOptions): Gateway => {
  const { world } = options;
  const signer = options.signer ?? createRequestSigner(world);
  const state: GatewayState = {
    options,
    signer,
    transport: options.transport ?? openTransport({ world, signer, retryPolicy: gatewayRetries }),
    hastyTransport: options.transport ?? openTransport({ world, signer, retryPolicy: { maxAttempts: 1 } }),
    cooldowns: new Cooldowns(world.clock),
    spending: new DailySpending(world.clock.now),
    unpriced: new Set(),
    seals: new SealStore({
      now: world.clock.now,
      ...(options.sealFile === undefined ? {} : { file: options.sealFile }),
    }),
    limits: { ...defaultLimits, ...options.limits },
    newId: options.newId ?? (() => createId(world.random)),
  };
  let open = 0;
  return {
    limits: state.limits,
    handle: async (request) => {
      const id = state.newId();
      const api = apiOfPath(request.path, request.headers);
      try {
        if (open >= state.limits.requests) throw new GatewayError({ kind: "busy", retryAfter: 1000 });
        open += 1;
        const response = await respond(state, request, id);
        return whenClosed(response, request.signal, () => (open -= 1));
      } catch (error) {
        if (!(error instanceof GatewayError && error.failure.kind === "busy")) open -= 1;
        return encodeFailure(api, failureOfRequest(error), id);
      }
    },
  };
};

/** Clients retry by themselves, so the gateway repeats only what a moment may mend, and passes longer waits on. */
const gatewayRetries = { maxAttempts: 3, maxWait: 2000, maxTotalWait: 5000 };

/**
 * Calls `work` once, when a response is over: now for a complete body, for a stream at its end or when the client leaves. A
 * generator that was never started has no end.
 */
const whenClosed = (response: GatewayResponse, signal: AbortSignal, work: () => void): GatewayResponse => {
  const { body } = response;
  if (typeof body === "string" || body instanceof Uint8Array) {
    work();
    return response;
  }
  let isOver = false;
  const end = (): void => {
    if (!isOver) work();
    isOver = true;
    signal.removeEventListener("abort", end);
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return { ...response, body: { ...body, chunks: withEnd(body.chunks, end) } };
};

/** Calls `end` when a generator ends. A generator around it would take several more turns of the queue per chunk. */
const withEnd = <Chunk>(chunks: AsyncGenerator<Chunk, void>, end: () => void): AsyncGenerator<Chunk, void> => {
  const watch = (step: Promise<IteratorResult<Chunk, void>>): Promise<IteratorResult<Chunk, void>> =>
    step.then(
      (result) => {
        if (result.done === true) end();
        return result;
      },
      (error: unknown) => {
        end();
        throw error;
      },
    );
  const watched: AsyncGenerator<Chunk, void> = {
    next: () => watch(chunks.next()),
    return: (value) => watch(chunks.return(value)),
    throw: (error) => watch(chunks.throw(error)),
    [Symbol.asyncIterator]: () => watched,
  };
  return watched;
};

const respond = async (state: GatewayState, request: GatewayRequest, id: string): Promise<GatewayResponse> => {
  const { options, spending } = state;
  const { method, path, headers, query } = request;
  const endpoint = findEndpoint(path, headers);
  if (endpoint === undefined) throw new GatewayError({ kind: "unknown-path", path });
  if (endpoint.operation === "status") return json(200, { name: "parley", status: "ok" });
  const config = options.config();
  const client = identifyClient(headers, query, config);
  const allowed = endpoint.operation === "models" ? "GET" : "POST";
  if (method !== allowed) throw new GatewayError({ kind: "bad-method", method, allowed });
  const encoder = await loadEncoder(endpoint.api);
  if (endpoint.operation === "models")
    return json(200, encoder.encodeModels(await listModels(config, options.world.env)));
  const reached = spending.reachedLimit(client, config);
  if (reached !== undefined) throw new GatewayError({ kind: "spend-limit", ...reached });
  const bytes = await request.body();
  const { text, body } = parseBody(bytes);
  const model = endpoint.model ?? body["model"];
  if (typeof model !== "string" || model === "")
    throw new GatewayError({ kind: "bad-request", detail: "The request names no model.", param: "model" });
  const finish = recorder(state, { client, model, api: endpoint.api, body });
  const admitted: AdmittedRequest = { request, endpoint, client, config, bytes, text, body, model, id, finish };
  try {
    switch (endpoint.operation) {
      case "generate":
        return await (await import("./operations/generate.ts")).generate(state, admitted, encoder);
      case "count":
        return await (await import("./operations/count.ts")).count(state, admitted, encoder);
      case "compact":
        return await (await import("./operations/compact.ts")).compact(state, admitted);
    }
  } catch (error) {
    const failure = failureOf(error);
    const { status } = encoder.encodeError(failure, id);
    finish({ status, failure });
    throw error;
  }
};

const parseBody = (bytes: Uint8Array): { readonly text: string; readonly body: Fields } => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return { text, body };
  } catch {
    // Reported below.
  }
  throw new GatewayError({ kind: "bad-request", detail: "The body is not a JSON object in UTF-8." });
};

const failureOfRequest = (error: unknown): GatewayFailure => {
  if (!(error instanceof RequestBodyError)) return failureOf(error);
  return error.status === 413
    ? { kind: "too-large", limit: Number(/\d+/.exec(error.message)?.[0] ?? 0) }
    : { kind: "bad-request", detail: error.message };
};

/** Encodes a failure in the words of an API. */
export const encodeFailure = async (
  api: GatewayEndpoint["api"],
  failure: GatewayFailure,
  id: string,
): Promise<GatewayResponse> => {
  const { status, headers, body } = (await loadEncoder(api)).encodeError(failure, id);
  return json(status, body, headers);
};

/** A complete JSON response. */
export const json = (
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: JSON.stringify(body),
});

/** Loads the encoder of an API's answers. */
const loadEncoder = async (api: GatewayEndpoint["api"]): Promise<AnswerEncoder> =>
  (await import("./answers/encoders.ts")).answerEncoders[api];

type RecordedRequest = Pick<AdmittedRequest, "client" | "model" | "body"> & Pick<GatewayEndpoint, "api">;

/** Returns a function that records the end of an exchange, once: what it cost, and the exchange itself where it is logged. */
const recorder = (
  { options: { world, onExchange, onUnpriced, config }, spending, unpriced }: GatewayState,
  { client, model, api, body }: RecordedRequest,
): ((result: ExchangeResult) => void) => {
  const at = world.clock.now();
  const start = world.clock.elapsed();
  let isDone = false;
  return ({ failure, unpriced: name, notes = [], ...result }) => {
    if (isDone) return;
    isDone = true;
    if (hasSpendLimit(config())) {
      if (result.cost !== undefined) spending.add(client, result.cost);
      if (name !== undefined && !unpriced.has(name)) onUnpriced?.(name);
      if (name !== undefined) unpriced.add(name);
    }
    onExchange?.({
      at: new Date(at).toISOString(),
      client: client ?? "",
      model,
      in: { api, body },
      notes,
      ...result,
      ...(failure === undefined ? {} : { error: explainGatewayFailure(failure) }),
      took: Math.round(world.clock.elapsed() - start),
    });
  };
};

/** Whether the spending of clients has to be measured. */
export const hasSpendLimit = ({ spend, clients = {} }: GatewayConfig): boolean =>
  spend !== undefined || Object.values(clients).some((client) => client.spend !== undefined);
