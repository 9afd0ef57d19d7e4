import type { HttpHeaders, HttpRequest, HttpResponse } from "../world/net.ts";
import { findSimProvider } from "./registry.ts";
import type { AwsSecret } from "./aws-signature.ts";
import { createPromptCache } from "./prompt-cache.ts";
import { echoModel } from "./model/echo.ts";
import { kindOfStatus } from "./request-checks.ts";
import { answerRequest, type SimExchangeOutcome, type SimServer } from "./exchange.ts";
import type { SimRequest, SimFamily, ApiRefusal, SimProvider, ModelFunction, UnlistedProvider } from "./family.ts";
import { deliverBody, applyEventFaults, type Delivery } from "./faults/delivery.ts";
import { indexFaults, faultsFor, createNetError, type SimFault, type FaultPlan } from "./faults/fault.ts";
import { createLogEntry, type LogEntry } from "./request-log.ts";
import { selectReply, toModelReply, type Script } from "./model/script.ts";

/** The options of a simulator. */
export type SimulatorOptions = {
  /**
   * Id of a simulated provider, or the name of an API family, which means its own vendor. A provider without an entry in
   * the simulator is described instead.
   */
  readonly provider: string | UnlistedProvider;
  /**
   * The model: a script or a function. Where a script has no reply, and without one, the model describes what it
   * received.
   */
  readonly script?: Script | ModelFunction;
  readonly faults?: FaultPlan;
  /** Seeds the positions that faults leave open. */
  readonly seed?: number;
  /** Accepted keys. Default: any. */
  readonly keys?: readonly string[];
  /** Verifies AWS signatures with this key. Without it, only their format is checked. */
  readonly awsSecret?: AwsSecret;
  /** Bytes per chunk. Default: one event per chunk. */
  readonly chunkBytes?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Called for every request once it is answered, or cannot be. */
  readonly onRequest?: (entry: LogEntry) => void;
  /** Keeps only the latest requests in the log. Default: all. */
  readonly logLimit?: number;
};

/** A strict simulation of one provider's API. */
export type Simulator = {
  readonly provider: SimProvider;
  /** Answers a request as the provider would. `prefix` is the path before the provider's own paths. */
  readonly handle: (request: HttpRequest, signal?: AbortSignal, prefix?: string) => Promise<HttpResponse>;
  /** The requests so far, in order. */
  readonly log: readonly LogEntry[];
};

/** Creates a simulator in memory, with its own prompt cache and log. */
export const createSimulator = (options: SimulatorOptions): Simulator => {
  const { script, faults: plan = [], seed = 1, chunkBytes, now = Date.now, sleep = realSleep } = options;
  const { onRequest, logLimit = Infinity } = options;
  const { family, provider } = findSimProvider(options.provider);
  const server: SimServer = {
    family,
    provider,
    allowedKeys: options,
    cache: createPromptCache(),
    generate: createModel(script),
  };
  const log: LogEntry[] = [];
  let ordinal = 0;
  const record = (entry: LogEntry): void => {
    log.push(entry);
    if (log.length > logLimit) log.shift();
    onRequest?.(entry);
  };

  const handle: Simulator["handle"] = async (request, signal, prefix = "") => {
    const number = ++ordinal;
    const faults = faultsFor(plan, number);
    const delivery: Delivery = {
      faults,
      seed: seed * 1000 + number,
      sleep,
      ...(chunkBytes === undefined ? {} : { chunkBytes }),
      ...(signal === undefined ? {} : { signal }),
    };
    if (getsNoResponse(faults)) record(createLogEntry({ request, ordinal: number, faults, status: 0 }));
    await applyConnectionFaults(delivery);
    const incoming = { request, ordinal: number, now: now(), prefix };
    const outcome = faultOutcome(faults, request) ?? answerRequest(withTinyEvents(server, faults), incoming);
    const encoded = encodeOutcome(server, outcome, { ordinal: number, delivery });
    record(createLogEntry({ request, ordinal: number, faults, outcome, status: encoded.status }));
    return toResponse(encoded, delivery);
  };
  return { provider, handle, log };
};

const realSleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

const createModel = (script: SimulatorOptions["script"]): SimServer["generate"] => {
  if (typeof script === "function") return script;
  return (modelRequest) => {
    const reply = script === undefined ? undefined : selectReply(script, modelRequest);
    if (reply === undefined) return echoModel(modelRequest);
    return reply.error === undefined ? toModelReply(reply) : { error: reply.error };
  };
};

const getsNoResponse = (faults: readonly SimFault[]): boolean =>
  faults.some(({ type }) => type === "refuse-connection" || type === "never-answer");

/** Applies the faults before the response: refused connection, no answer, delayed headers. */
const applyConnectionFaults = async ({ faults, sleep, signal }: Delivery): Promise<void> => {
  const byType = indexFaults(faults);
  if (byType["refuse-connection"] !== undefined) throw createNetError("connect", "ECONNREFUSED");
  if (byType["never-answer"] !== undefined) await untilAborted(signal);
  if (byType["delay-headers"] !== undefined) await sleep(byType["delay-headers"].ms, signal);
  signal?.throwIfAborted();
};

const untilAborted = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** The outcome of a status or redirect fault. */
const faultOutcome = (faults: readonly SimFault[], { url }: HttpRequest): SimExchangeOutcome | undefined => {
  const { status: fault, redirect } = indexFaults(faults);
  if (fault !== undefined) {
    const kind = fault.kind ?? kindOfStatus(fault.status);
    const { status, message = defaultMessages[kind] ?? "The request failed.", headers = {} } = fault;
    return { type: "refused", refusal: { status, kind, message, headers } };
  }
  if (redirect === undefined) return undefined;
  const { pathname, search } = new URL(url);
  const headers = { location: `${redirect.to}${pathname}${search}` };
  const status = redirect.status ?? 307;
  return { type: "refused", refusal: { status, kind: "server", message: "The API has moved.", headers } };
};

const defaultMessages: { readonly [kind in ApiRefusal["kind"]]?: string } = {
  "rate-limited": "Rate limit reached. Please try again later.",
  quota: "You exceeded your current quota.",
  overloaded: "Overloaded",
  server: "Internal server error",
};

const withTinyEvents = (server: SimServer, faults: readonly SimFault[]): SimServer => {
  const { "tiny-events": tiny } = indexFaults(faults);
  if (tiny === undefined) return server;
  // A delta has two and a half words on average.
  const text = "a ".repeat(Math.ceil(tiny.count * 2.5)).trimEnd();
  return { ...server, generate: () => ({ parts: [{ type: "say", text }] }), unlimited: true };
};

/** A response before it is sent. */
type EncodedResponse = {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly events: readonly (string | Uint8Array)[];
};

const encodeOutcome = (
  { family, provider }: SimServer,
  outcome: SimExchangeOutcome,
  { ordinal, delivery }: { readonly ordinal: number; readonly delivery: Delivery },
): EncodedResponse => {
  switch (outcome.type) {
    case "refused": {
      const refusal = { ...outcome.refusal, ordinal };
      const { body, headers, status = refusal.status } = family.encodeError(refusal, provider);
      return { status, headers: { ...jsonHeaders, ...headers, ...refusal.headers }, events: [JSON.stringify(body)] };
    }
    case "fixed":
      return { status: 200, headers: jsonHeaders, events: [JSON.stringify(outcome.json)] };
    case "counted":
    case "whole":
      return {
        status: 200,
        headers: { ...jsonHeaders, ...family.responseHeaders?.(outcome.request) },
        events: [JSON.stringify(outcome.json)],
      };
    case "stream": {
      const { request } = outcome;
      const type = ("streamType" in request.route ? request.route.streamType : undefined) ?? family.streamType;
      const error = (fault: Extract<SimFault, { type: "stream-error" }>): string | Uint8Array =>
        encodeErrorEvent(family, { ...request, ordinal }, fault);
      return {
        status: 200,
        headers: { "content-type": type, ...family.responseHeaders?.(request) },
        events: applyEventFaults(outcome.events, delivery, error),
      };
    }
  }
};

const jsonHeaders: HttpHeaders = { "content-type": "application/json" };

const encodeErrorEvent = (
  family: SimFamily,
  request: SimRequest,
  { status = 529, message }: Extract<SimFault, { type: "stream-error" }>,
): string | Uint8Array => {
  const kind = kindOfStatus(status);
  const refusal: ApiRefusal = {
    status,
    kind,
    message: message ?? defaultMessages[kind] ?? "The request failed.",
    ordinal: request.ordinal,
  };
  return (
    family.encodeStreamError?.(refusal, request) ??
    `data: ${JSON.stringify(family.encodeError(refusal, request.provider).body)}\n\n`
  );
};

const toResponse = ({ status, headers, events }: EncodedResponse, delivery: Delivery): HttpResponse => {
  const { "content-type": type, "gzip-cut": gzipCut } = indexFaults(delivery.faults);
  return {
    status,
    headers: {
      ...headers,
      ...(type === undefined ? {} : { "content-type": type.value }),
      ...(gzipCut === undefined ? {} : { "content-encoding": "gzip" }),
    },
    body: deliverBody(events, delivery),
  };
};
