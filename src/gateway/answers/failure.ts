import { explainFailure, type Failure } from "../../transport/failure.ts";

/** A failure the gateway reports to a client: one of the target, or one of the gateway itself. */
export type GatewayFailure = Failure | DoorFailure;

/** A failure of the gateway itself: nothing was sent to a target. */
type DoorFailure =
  | { readonly kind: "bad-token" | "forbidden"; readonly detail?: string }
  | {
      readonly kind: "unknown-model";
      readonly model: string;
      /** Names that exist. */ readonly known?: readonly string[];
    }
  | { readonly kind: "unknown-path"; readonly path: string }
  | { readonly kind: "bad-method"; readonly method: string; readonly allowed: string }
  | { readonly kind: "too-large"; readonly limit: number }
  /** The body cannot be used: no JSON, or a field the gateway cannot serve. */
  | { readonly kind: "bad-request"; readonly detail: string; readonly param?: string }
  /** A spending limit of the gateway. Trying again does not help until `retryAfter` (milliseconds), if given. */
  | { readonly kind: "spend-limit"; readonly limit: string; readonly retryAfter?: number }
  /** Too many streams at once. */
  | { readonly kind: "busy"; readonly retryAfter?: number }
  /** The target answered a request for a summary without one. */
  | { readonly kind: "no-summary" }
  | { readonly kind: "internal"; readonly detail?: string };

/** Explains a failure to the person at the client: what happened, and what to do about it. */
export const explainGatewayFailure = (failure: GatewayFailure): string => {
  switch (failure.kind) {
    case "bad-token":
      return failure.detail ?? 'The token is not one of this gateway. Run "parley gateway setup" for the client again.';
    case "forbidden":
      return failure.detail ?? "This gateway does not accept requests from there.";
    case "unknown-model":
      return `No route for the model "${failure.model}".${nameKnown(failure.known)} Add a route in the settings of the gateway.`;
    case "unknown-path":
      return `The gateway has no ${failure.path}. Check the base URL of the client.`;
    case "bad-method":
      return `Use ${failure.allowed} here, not ${failure.method}.`;
    case "too-large":
      return `The request is larger than ${failure.limit} bytes. Send less, or raise the limit in the settings of the gateway.`;
    case "bad-request":
      return failure.detail;
    case "spend-limit":
      return `The gateway's spending limit is reached: ${failure.limit}. Raise it in the settings of the gateway.`;
    case "busy":
      return "The gateway has too many open requests. Try again later.";
    case "no-summary":
      return "The model wrote no summary. Try again, or route the model to another target.";
    case "internal":
      return `The gateway failed${failure.detail === undefined ? "" : `: ${failure.detail}`}. Try again; its log says more.`;
    case "no-key":
    case "misconfigured":
    case "bad-key":
    case "no-credit":
    case "overloaded":
    case "context-too-long":
    case "filtered":
    case "rate-limited":
    case "quota-gone":
    case "refused":
    case "network":
    case "time-out":
    case "stream-cut":
    case "malformed-stream":
    case "cancelled":
      return explainFailure(failure);
  }
};

const nameKnown = (known: readonly string[] | undefined): string =>
  known === undefined || known.length === 0 ? "" : ` Known: ${known.slice(0, 10).join(", ")}.`;
