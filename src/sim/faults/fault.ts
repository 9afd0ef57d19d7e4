import { NetError, type HttpHeaders } from "../../world/net.ts";
import type { ApiRefusal } from "../family.ts";

/**
 * One thing that goes wrong. Places (`at` a byte, an `event`, `after` so many events) count
 * from 0; one that is left out is chosen by the simulator's seed. Faults of events only touch streams.
 */
export type SimFault =
  /** Nobody listens. */
  | { readonly type: "refuse-connection" }
  /** The request is taken and nothing ever comes back. */
  | { readonly type: "never-answer" }
  | { readonly type: "delay-headers"; readonly ms: number }
  /** Headers come at once, the first byte later. */
  | { readonly type: "delay-body"; readonly ms: number }
  /** Time between one chunk and the next. */
  | { readonly type: "drip"; readonly ms: number }
  | { readonly type: "slice"; readonly bytes: number }
  /** The answer ends early, as if that were all. */
  | { readonly type: "truncate"; readonly at?: number }
  /** The connection breaks. */
  | { readonly type: "cut"; readonly at?: number }
  /** A compressed answer whose end is missing. */
  | { readonly type: "gzip-cut"; readonly at?: number }
  | { readonly type: "corrupt"; readonly at?: number }
  | { readonly type: "duplicate" | "swap" | "drop"; readonly event?: number }
  | { readonly type: "malformed-event"; readonly after?: number }
  | { readonly type: "huge-line"; readonly bytes: number; readonly after?: number }
  /** The vendor's own error event, and the end. */
  | { readonly type: "stream-error"; readonly after?: number; readonly status?: number; readonly message?: string }
  /** Bytes after a complete answer. */
  | { readonly type: "garbage"; readonly text?: string }
  /** So many events of a word or a few, whatever the script says. */
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

/** A fault, and the requests it happens to: by number from 1, or in a range. Without `on`, all of them. */
export type FaultRule = {
  readonly on?: number | readonly number[] | { readonly from?: number; readonly to?: number; readonly every?: number };
  readonly fault: SimFault;
};

/** What goes wrong, and when. All rules for a request apply together. */
export type FaultPlan = readonly FaultRule[];

/** The faults that happen to a request. */
export const faultsFor = (plan: FaultPlan, ordinal: number): readonly SimFault[] =>
  plan.filter(({ on }) => appliesTo(on, ordinal)).map(({ fault }) => fault);

/** Faults by type. Of several of one type the last counts. */
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

/** A plan by chance for the first requests, the same for the same seed. About two in three of them go wrong. */
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

/** Numbers from 0 up to, not including, 1: the same for the same seed (splitmix32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

/** A failed connection, as the operating system would report it. */
export const createNetError = (at: NetError["at"], code: string): NetError => {
  const words = at === "connect" ? "The connection was refused." : "The connection was closed before the end.";
  return new NetError(at, words, Object.assign(new Error(code), { code }));
};
