import { NetError, type HttpHeaders } from "../../world/net.ts";
import type { ApiRefusal } from "../family.ts";

/**
 * A fault to inject. Positions (`at` a byte, an `event`, `after` a number of events) count from 0; an omitted one is
 * chosen by the simulator's seed. Event faults apply to streams only.
 */
export type SimFault =
  /** The connection is refused. */
  | { readonly type: "refuse-connection" }
  /** The request is accepted and never answered. */
  | { readonly type: "never-answer" }
  | { readonly type: "delay-headers"; readonly ms: number }
  /** Headers are sent immediately, the first byte later. */
  | { readonly type: "delay-body"; readonly ms: number }
  /** Delay between chunks. */
  | { readonly type: "drip"; readonly ms: number }
  | { readonly type: "slice"; readonly bytes: number }
  /** The response ends early without an error. */
  | { readonly type: "truncate"; readonly at?: number }
  /** The connection breaks. */
  | { readonly type: "cut"; readonly at?: number }
  /** A compressed response without its end. */
  | { readonly type: "gzip-cut"; readonly at?: number }
  | { readonly type: "corrupt"; readonly at?: number }
  | { readonly type: "duplicate" | "swap" | "drop"; readonly event?: number }
  | { readonly type: "malformed-event"; readonly after?: number }
  | { readonly type: "huge-line"; readonly bytes: number; readonly after?: number }
  /** The vendor's error event, then the end of the stream. */
  | { readonly type: "stream-error"; readonly after?: number; readonly status?: number; readonly message?: string }
  /** Extra bytes after a complete response. */
  | { readonly type: "garbage"; readonly text?: string }
  /** This many events of a few words each, instead of the script's reply. */
  | { readonly type: "tiny-events"; readonly count: number }
  | {
      readonly type: "status";
      readonly status: number;
      readonly kind?: ApiRefusal["kind"];
      readonly message?: string;
      readonly headers?: HttpHeaders;
    }
  | { readonly type: "content-type"; readonly value: string }
  | { readonly type: "redirect"; readonly to: string; readonly status?: number };

/** A fault and the requests it applies to: by number from 1, or by range. Without `on`, all requests. */
export type FaultRule = {
  readonly on?: number | readonly number[] | { readonly from?: number; readonly to?: number; readonly every?: number };
  readonly fault: SimFault;
};

/** The faults to inject. All rules that match a request apply together. */
export type FaultPlan = readonly FaultRule[];

/** The faults that apply to a request. */
export const faultsFor = (plan: FaultPlan, ordinal: number): readonly SimFault[] =>
  plan.filter(({ on }) => appliesTo(on, ordinal)).map(({ fault }) => fault);

/** Indexes faults by type. The last one of a type counts. */
export const indexFaults = (faults: readonly SimFault[]): FaultsByType =>
  Object.fromEntries(faults.map((fault) => [fault.type, fault])) as FaultsByType;

type FaultsByType = { readonly [Type in SimFault["type"]]?: Extract<SimFault, { type: Type }> };

const appliesTo = (on: FaultRule["on"], ordinal: number): boolean => {
  if (on === undefined) return true;
  if (typeof on === "number") return on === ordinal;
  if ("includes" in on) return on.includes(ordinal);
  const { from = 1, to = Infinity, every = 1 } = on;
  return ordinal >= from && ordinal <= to && (ordinal - from) % every === 0;
};

/**
 * Creates a random plan for the first requests, the same for the same seed. About two thirds of the requests get a
 * fault.
 */
export const randomFaults = (seed: number, requests = 6): FaultPlan => {
  const random = seededRandom(seed);
  return Array.from({ length: requests }, (_, index) => index + 1).flatMap((on) => {
    const isFaulty = random() < 2 / 3;
    const fault = randomFault(random);
    return isFaulty ? [{ on, fault }] : [];
  });
};

const randomFault = (random: () => number): SimFault => {
  const number = (below: number): number => Math.floor(random() * below);
  const faults: readonly SimFault[] = [
    { type: "refuse-connection" },
    { type: "never-answer" },
    { type: "delay-headers", ms: number(120_000) },
    { type: "delay-body", ms: number(120_000) },
    { type: "drip", ms: number(5000) },
    { type: "slice", bytes: 1 + number(40) },
    { type: "truncate" },
    { type: "cut" },
    { type: "gzip-cut" },
    { type: "corrupt" },
    { type: "duplicate" },
    { type: "swap" },
    { type: "drop" },
    { type: "malformed-event" },
    { type: "huge-line", bytes: 1000 + number(1_000_000) },
    { type: "stream-error" },
    { type: "garbage" },
    { type: "tiny-events", count: 1000 + number(1000) },
    { type: "content-type", value: number(2) === 0 ? "text/html; charset=utf-8" : "text/plain" },
    { type: "redirect", to: "https://elsewhere.example" },
    { type: "status", status: [408, 409, 429, 500, 502, 503, 504, 529][number(8)] ?? 500 },
    { type: "status", status: 429, headers: { "retry-after": ["7", "-1", "NaN", "99999999"][number(4)] ?? "7" } },
    { type: "status", status: 429, headers: { "retry-after-ms": String(number(10_000)) } },
    { type: "status", status: 429, kind: "quota" },
    { type: "status", status: [400, 401, 403, 404, 413][number(5)] ?? 400 },
  ];
  return faults[number(faults.length)] ?? { type: "cut" };
};

/** Creates a seeded random generator of numbers in [0, 1) (splitmix32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

/** Creates the error of a failed connection, as the operating system reports it. */
export const createNetError = (at: NetError["at"], code: string): NetError => {
  const words = at === "connect" ? "The connection was refused." : "The connection was closed before the end.";
  return new NetError(at, words, Object.assign(new Error(code), { code }));
};
