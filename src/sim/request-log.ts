import type { HttpRequest } from "../world/net.ts";
import type { SimExchangeOutcome } from "./exchange.ts";
import type { SimUsage, SimResponse } from "./family.ts";
import type { SimFault } from "./faults/fault.ts";

/** A request and its result. */
export type LogEntry = {
  readonly ordinal: number;
  readonly method: string;
  readonly path: string;
  readonly model?: string;
  readonly body?: unknown;
  readonly faults: readonly SimFault["type"][];
} & (
  | {
      readonly verdict: "accepted";
      readonly status: 200;
      readonly usage?: SimUsage;
      /** Seals that were silently ignored. */
      readonly dropped?: NonNullable<SimResponse["droppedSeals"]>;
    }
  | {
      readonly verdict: "refused";
      /** 0 if no response was sent. */
      readonly status: number;
      readonly message: string;
      /** The broken rule, if it was one of `rules/`. */
      readonly rule?: string;
      readonly pointer?: string;
    }
);

/** One request and its outcome. Without an outcome, no response was sent. */
export type LoggedExchange = {
  readonly request: HttpRequest;
  readonly ordinal: number;
  readonly faults: readonly SimFault[];
  readonly outcome?: SimExchangeOutcome;
  /** The status that was sent, which the vendor's encoding may change. */
  readonly status: number;
};

/** Creates the log entry of a request. */
export const createLogEntry = ({ request, ordinal, faults, outcome, status }: LoggedExchange): LogEntry => {
  const { model, body } = outcome ?? {};
  const entry = {
    ordinal,
    method: request.method,
    path: new URL(request.url).pathname,
    ...(model === undefined ? {} : { model }),
    ...(body === undefined ? {} : { body }),
    faults: faults.map(({ type }) => type),
  };
  if (outcome === undefined) return { ...entry, verdict: "refused", status, message: "No response was sent." };
  if (outcome.type !== "refused")
    return {
      ...entry,
      verdict: "accepted",
      status: 200,
      ...("usage" in outcome ? { usage: outcome.usage } : {}),
      ...("droppedSeals" in outcome && outcome.droppedSeals.length > 0 ? { dropped: outcome.droppedSeals } : {}),
    };
  const { rule, refusal } = outcome;
  const { message, pointer } = refusal;
  return {
    ...entry,
    verdict: "refused",
    status,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(pointer === undefined ? {} : { pointer }),
  };
};
