import type { Headers, HttpRequest, HttpResponse } from "../world/net.ts";
import { findProvider } from "./all.ts";
import type { AwsSecret } from "./aws-auth.ts";
import { createPromptCache } from "./cache.ts";
import { defaultModel } from "./default-model.ts";
import { kindOf } from "./door.ts";
import { answer, type Outcome, type Server } from "./exchange.ts";
import type { Ask, Family, Refusal, SimProvider, Speak } from "./family.ts";
import { deliver, faultyEvents, type Delivery } from "./fault-body.ts";
import { byType, faultsFor, netError, type Fault, type FaultPlan } from "./faults.ts";
import { logEntry, type LogEntry } from "./log.ts";
import { replyOf, saidBy, type Script } from "./script.ts";

/** What a simulator is made of. */
export type SimulatorOptions = {
  /** Id of a simulated provider, or the name of a family, which means its own vendor. */
  readonly provider: string;
  /** Who speaks. Where a script is silent, and without one, the model says what it received. */
  readonly script?: Script | Speak;
  readonly faults?: FaultPlan;
  /** Chooses the places that faults leave open. */
  readonly seed?: number;
  /** Accepted keys. Without them, any. */
  readonly keys?: readonly string[];
  /** Reckons AWS signatures anew. Without it, only their form is looked at. */
  readonly awsSecret?: AwsSecret;
  /** Bytes of a chunk. Without it, a chunk is an event. */
  readonly chunk?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Told of every request once it is answered, or cannot be. */
  readonly tell?: (entry: LogEntry) => void;
  /** How many requests the log keeps, the latest; without it, all. */
  readonly remember?: number;
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
  const { script, faults: plan = [], seed = 1, chunk, now = Date.now, sleep = realSleep } = options;
  const { tell, remember = Infinity } = options;
  const { family, provider } = findProvider(options.provider);
  const server: Server = { family, provider, doormen: options, cache: createPromptCache(), speak: speakerOf(script) };
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
      ...(chunk === undefined ? {} : { chunk }),
      ...(signal === undefined ? {} : { signal }),
    };
    if (isSilent(faults)) note(logEntry({ request, ordinal: number, faults, status: 0 }));
    await beforeAnswer(delivery);
    const arrival = { request, ordinal: number, now: now(), prefix };
    const outcome = stormOf(faults, request) ?? answer(withTinyEvents(server, faults), arrival);
    const ready = writeOutcome(server, outcome, { ordinal: number, delivery });
    note(logEntry({ request, ordinal: number, faults, outcome, status: ready.status }));
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

const speakerOf = (script: SimulatorOptions["script"]): Server["speak"] => {
  if (typeof script === "function") return script;
  return (heard) => {
    const reply = script === undefined ? undefined : replyOf(script, heard);
    if (reply === undefined) return defaultModel(heard);
    return reply.error === undefined ? saidBy(reply) : { error: reply.error };
  };
};

const isSilent = (faults: readonly Fault[]): boolean =>
  faults.some(({ type }) => type === "refuse-connection" || type === "never-answer");

/** What goes wrong before there is an answer. */
const beforeAnswer = async ({ faults, sleep, signal }: Delivery): Promise<void> => {
  const named = byType(faults);
  if (named["refuse-connection"] !== undefined) throw netError("connect", "ECONNREFUSED");
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
const stormOf = (faults: readonly Fault[], { url }: HttpRequest): Outcome | undefined => {
  const { status: storm, redirect } = byType(faults);
  if (storm !== undefined) {
    const kind = storm.kind ?? kindOf(storm.status);
    const { status, message = words[kind] ?? "The request failed.", headers = {} } = storm;
    return { type: "refused", refusal: { status, kind, message, headers } };
  }
  if (redirect === undefined) return undefined;
  const { pathname, search } = new URL(url);
  const headers = { location: `${redirect.to}${pathname}${search}` };
  const status = redirect.status ?? 307;
  return { type: "refused", refusal: { status, kind: "server", message: "The API has moved.", headers } };
};

const words: { readonly [kind in Refusal["kind"]]?: string } = {
  "rate-limited": "Rate limit reached. Please try again later.",
  quota: "You exceeded your current quota.",
  overloaded: "Overloaded",
  server: "Internal server error",
};

const withTinyEvents = (server: Server, faults: readonly Fault[]): Server => {
  const { "tiny-events": tiny } = byType(faults);
  if (tiny === undefined) return server;
  // Pieces have two and a half words on average.
  const text = "a ".repeat(Math.ceil(tiny.count * 2.5)).trimEnd();
  return { ...server, speak: () => ({ parts: [{ type: "say", text }] }), unlimited: true };
};

/** An answer before it is sent. */
type Ready = { readonly status: number; readonly headers: Headers; readonly events: readonly (string | Uint8Array)[] };

const writeOutcome = (
  { family, provider }: Server,
  outcome: Outcome,
  { ordinal, delivery }: { readonly ordinal: number; readonly delivery: Delivery },
): Ready => {
  switch (outcome.type) {
    case "refused": {
      const refusal = { ...outcome.refusal, ordinal };
      const { body, headers, status = refusal.status } = family.refuse(refusal, provider);
      return { status, headers: { ...json, ...headers, ...refusal.headers }, events: [JSON.stringify(body)] };
    }
    case "fixed":
      return { status: 200, headers: json, events: [JSON.stringify(outcome.answer)] };
    case "counted":
    case "whole":
      return {
        status: 200,
        headers: { ...json, ...family.headers?.(outcome.ask) },
        events: [JSON.stringify(outcome.answer)],
      };
    case "stream": {
      const { ask } = outcome;
      const type = ("streamType" in ask.route ? ask.route.streamType : undefined) ?? family.streamType;
      const error = (fault: Extract<Fault, { type: "stream-error" }>): string | Uint8Array =>
        errorEvent(family, { ...ask, ordinal }, fault);
      return {
        status: 200,
        headers: { "content-type": type, ...family.headers?.(ask) },
        events: faultyEvents(outcome.events, delivery, error),
      };
    }
  }
};

const json: Headers = { "content-type": "application/json" };

const errorEvent = (
  family: Family,
  ask: Ask,
  { status = 529, message }: Extract<Fault, { type: "stream-error" }>,
): string | Uint8Array => {
  const kind = kindOf(status);
  const refusal: Refusal = {
    status,
    kind,
    message: message ?? words[kind] ?? "The request failed.",
    ordinal: ask.ordinal,
  };
  return family.streamError?.(refusal, ask) ?? `data: ${JSON.stringify(family.refuse(refusal, ask.provider).body)}\n\n`;
};

const toResponse = ({ status, headers, events }: Ready, delivery: Delivery): HttpResponse => {
  const { "content-type": type, "gzip-cut": packed } = byType(delivery.faults);
  return {
    status,
    headers: {
      ...headers,
      ...(type === undefined ? {} : { "content-type": type.value }),
      ...(packed === undefined ? {} : { "content-encoding": "gzip" }),
    },
    body: deliver(events, delivery),
  };
};
