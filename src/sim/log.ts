import type { HttpRequest } from "../world/net.ts";
import type { Outcome } from "./exchange.ts";
import type { SimUsage, Spoken } from "./family.ts";
import type { Fault } from "./faults.ts";

/** One request, and what became of it. */
export type LogEntry = {
  readonly ordinal: number;
  readonly method: string;
  readonly path: string;
  readonly model?: string;
  readonly body?: unknown;
  readonly faults: readonly Fault["type"][];
} & (
  | {
      readonly verdict: "accepted";
      readonly status: 200;
      readonly usage?: SimUsage;
      /** Seals that were passed over without a word. */
      readonly dropped?: NonNullable<Spoken["dropped"]>;
    }
  | {
      readonly verdict: "refused";
      /** 0 where nothing was answered at all. */
      readonly status: number;
      readonly message: string;
      /** The rule that was broken, where it was one of `rules/`. */
      readonly rule?: string;
      readonly pointer?: string;
    }
);

/** What happened to one request. Without an outcome, nothing was answered. */
export type Happened = {
  readonly request: HttpRequest;
  readonly ordinal: number;
  readonly faults: readonly Fault[];
  readonly outcome?: Outcome;
  /** As it was sent, which is the vendor's choice. */
  readonly status: number;
};

/** What the log says of a request. */
export const logEntry = ({ request, ordinal, faults, outcome, status }: Happened): LogEntry => {
  const { model, body } = outcome ?? {};
  const entry = {
    ordinal,
    method: request.method,
    path: new URL(request.url).pathname,
    ...(model === undefined ? {} : { model }),
    ...(body === undefined ? {} : { body }),
    faults: faults.map(({ type }) => type),
  };
  if (outcome === undefined) return { ...entry, verdict: "refused", status, message: "Nothing was answered." };
  if (outcome.type !== "refused")
    return {
      ...entry,
      verdict: "accepted",
      status: 200,
      ...("usage" in outcome ? { usage: outcome.usage } : {}),
      ...("dropped" in outcome && outcome.dropped.length > 0 ? { dropped: outcome.dropped } : {}),
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
