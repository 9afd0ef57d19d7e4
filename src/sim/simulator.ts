import type { HttpHeaders, HttpRequest, HttpResponse } from "../world/net.ts";
import { findSimProvider } from "./registry.ts";
import type { AwsSecret } from "./aws-signature.ts";
import { createPromptCache } from "./prompt-cache.ts";
import { echoModel } from "./model/echo.ts";
import { kindOfStatus } from "./request-checks.ts";
import { answerRequest, type SimExchangeOutcome, type SimServer } from "./exchange.ts";
import type { SimRequest, SimFamily, ApiRefusal, SimProvider, ModelFunction } from "./family.ts";
import { deliverBody, applyEventFaults, type Delivery } from "./faults/delivery.ts";
import { indexFaults, faultsFor, createNetError, type SimFault, type FaultPlan } from "./faults/fault.ts";
import { createLogEntry, type LogEntry } from "./request-log.ts";
import { selectReply, toModelReply, type Script } from "./model/script.ts";

/** What a simulator is made of. */
export type SimulatorOptions = {
  /** Id of a simulated provider, or the name of a family, which means its own vendor. */
  readonly provider: string;
  /** Who speaks. Where a script is silent, and without one, the model says what it received. */
  readonly script?: Script | ModelFunction;
  readonly faults?: FaultPlan;
  /** Chooses the places that faults leave open. */
  readonly seed?: number;
  /** Accepted keys. Without them, any. */
  readonly keys?: readonly string[];
  /** Reckons AWS signatures anew. Without it, only their form is looked at. */
  readonly awsSecret?: AwsSecret;
  /** Bytes of a chunk. Without it, a chunk is an event. */
  readonly chunkBytes?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Told of every request once it is answered, or cannot be. */
  readonly onRequest?: (entry: LogEntry) => void;
  /** How many requests the log keeps, the latest; without it, all. */
  readonly logLimit?: number;
};

/** A strict stand-in for one provider's API. */
export type Simulator = {
  readonly provider: SimProvider;
  /** Answers a request as the provider would. `prefix` is what stands before the provider's own paths. */
  readonly handle: (request: HttpRequest, signal?: AbortSignal, prefix?: string) => Promise<HttpResponse>;
  /** The requests so far, in order. */
  readonly log: readonly LogEntry[];
};

/** A stand-in in memory, with a cache and a log of its own. */
export const createSimulator = (options: SimulatorOptions): Simulator => {
  const { script, faults: plan = [], seed = 1, chunkBytes: chunk, now = Date.now, sleep = realSleep } = options;
  const { onRequest: tell, logLimit: remember = Infinity } = options;
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
  const note = (entry: LogEntry): void => {
    log.push(entry);
    if (log.length > remember) log.shift();
    tell?.(entry);
  };

  const handle: Simulator["handle"] = async (request, signal, prefix = "") => {
    const number = ++ordinal;
    const faults = faultsFor(plan, number);
    const delivery: Delivery = {
      faults,
      seed: seed * 1000 + number,
      sleep,
      ...(chunk === undefined ? {} : { chunkBytes: chunk }),
      ...(signal === undefined ? {} : { signal }),
    };
    if (getsNoResponse(faults)) note(createLogEntry({ request, ordinal: number, faults, status: 0 }));
    await applyConnectionFaults(delivery);
    const arrival = { request, ordinal: number, now: now(), prefix };
    const outcome = faultOutcome(faults, request) ?? answerRequest(withTinyEvents(server, faults), arrival);
    const ready = encodeOutcome(server, outcome, { ordinal: number, delivery });
    note(createLogEntry({ request, ordinal: number, faults, outcome, status: ready.status }));
    return toResponse(ready, delivery);
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
  return (heard) => {
    const reply = script === undefined ? undefined : selectReply(script, heard);
    if (reply === undefined) return echoModel(heard);
    return reply.error === undefined ? toModelReply(reply) : { error: reply.error };
  };
};

const getsNoResponse = (faults: readonly SimFault[]): boolean =>
  faults.some(({ type }) => type === "refuse-connection" || type === "never-answer");

/** What goes wrong before there is an answer. */
const applyConnectionFaults = async ({ faults, sleep, signal }: Delivery): Promise<void> => {
  const named = indexFaults(faults);
  if (named["refuse-connection"] !== undefined) throw createNetError("connect", "ECONNREFUSED");
  if (named["never-answer"] !== undefined) await untilAborted(signal);
  if (named["delay-headers"] !== undefined) await sleep(named["delay-headers"].ms, signal);
  signal?.throwIfAborted();
};

const untilAborted = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** An answer that has nothing to do with the request. */
const faultOutcome = (faults: readonly SimFault[], { url }: HttpRequest): SimExchangeOutcome | undefined => {
  const { status: storm, redirect } = indexFaults(faults);
  if (storm !== undefined) {
    const kind = storm.kind ?? kindOfStatus(storm.status);
    const { status, message = defaultMessages[kind] ?? "The request failed.", headers = {} } = storm;
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
  // Pieces have two and a half words on average.
  const text = "a ".repeat(Math.ceil(tiny.count * 2.5)).trimEnd();
  return { ...server, generate: () => ({ parts: [{ type: "say", text }] }), unlimited: true };
};

/** An answer before it is sent. */
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
      return { status: 200, headers: jsonHeaders, events: [JSON.stringify(outcome.answer)] };
    case "counted":
    case "whole":
      return {
        status: 200,
        headers: { ...jsonHeaders, ...family.responseHeaders?.(outcome.ask) },
        events: [JSON.stringify(outcome.answer)],
      };
    case "stream": {
      const { ask } = outcome;
      const type = ("streamType" in ask.route ? ask.route.streamType : undefined) ?? family.streamType;
      const error = (fault: Extract<SimFault, { type: "stream-error" }>): string | Uint8Array =>
        encodeErrorEvent(family, { ...ask, ordinal }, fault);
      return {
        status: 200,
        headers: { "content-type": type, ...family.responseHeaders?.(ask) },
        events: applyEventFaults(outcome.events, delivery, error),
      };
    }
  }
};

const jsonHeaders: HttpHeaders = { "content-type": "application/json" };

const encodeErrorEvent = (
  family: SimFamily,
  ask: SimRequest,
  { status = 529, message }: Extract<SimFault, { type: "stream-error" }>,
): string | Uint8Array => {
  const kind = kindOfStatus(status);
  const refusal: ApiRefusal = {
    status,
    kind,
    message: message ?? defaultMessages[kind] ?? "The request failed.",
    ordinal: ask.ordinal,
  };
  return (
    family.encodeStreamError?.(refusal, ask) ??
    `data: ${JSON.stringify(family.encodeError(refusal, ask.provider).body)}\n\n`
  );
};

const toResponse = ({ status, headers, events }: EncodedResponse, delivery: Delivery): HttpResponse => {
  const { "content-type": type, "gzip-cut": packed } = indexFaults(delivery.faults);
  return {
    status,
    headers: {
      ...headers,
      ...(type === undefined ? {} : { "content-type": type.value }),
      ...(packed === undefined ? {} : { "content-encoding": "gzip" }),
    },
    body: deliverBody(events, delivery),
  };
};
