/** A failure between us and a provider. Code switches on `kind`; people read `explainFailure`. */
export type Failure = FailureCommon &
  (
    | { readonly kind: "no-key" | "misconfigured"; /** How to set it up. */ readonly how: string }
    | { readonly kind: "bad-key" | "no-credit" | "overloaded" | "context-too-long" | "filtered" }
    | {
        readonly kind: "rate-limited" | "quota-gone";
        /** The delay the provider asks for, in milliseconds. */ readonly retryAfter?: number;
      }
    | {
        readonly kind: "refused";
        readonly status: number;
        /** The rules the request broke, where rules/ finds any. */
        readonly rules: readonly BrokenRule[];
      }
    | { readonly kind: "network"; /** The host that could not be reached. */ readonly host: string }
    | { readonly kind: "time-out"; readonly phase: "headers" | "first-byte" | "idle" | "whole"; readonly ms: number }
    | { readonly kind: "stream-cut" | "malformed-stream" | "cancelled" }
  );

type FailureCommon = {
  /** The provider's id and display name. */
  readonly provider: string;
  readonly label: string;
  /** The message of the vendor or the system, without secrets. */
  readonly detail?: string;
  /** The HTTP status, if there was a response. */
  readonly status?: number;
  /** Whether part of the response was already emitted. */
  readonly partial?: true;
};

/** A rule of an API that a refused request broke, as reported by rules/. */
export type BrokenRule = { readonly rule: string; readonly pointer: string; readonly message: string };

/** A thrown failure. Its message is `explainFailure`; match on `failure.kind` instead. */
export class ProviderError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(explainFailure(failure), options);
    this.name = "ProviderError";
    this.failure = failure;
  }
}

/** Explains a failure in two sentences: what happened, and what to do about it. */
export const explainFailure = (failure: Failure): string => {
  const { label } = failure;
  const detail = failure.detail === undefined || failure.detail === "" ? "" : `: ${sentenceEnd(failure.detail)}`;
  switch (failure.kind) {
    case "no-key":
      return `No API key for ${label}. ${failure.how}`;
    case "misconfigured":
      return `${label} is not set up. ${failure.how}`;
    case "bad-key":
      return `${label} rejected the API key${detail || "."} Check it with "parley doctor", or set another one.`;
    case "no-credit":
      return `The account at ${label} has no credit left${detail || "."} Add credit there, or use another provider.`;
    case "quota-gone":
      return `The quota at ${label} is used up${detail || "."} ${failure.retryAfter === undefined ? "Wait until it is renewed" : `Try again in ${formatDuration(failure.retryAfter)}`}, or use another provider.`;
    case "rate-limited":
      return `${label} limits the request rate${detail || "."} Try again ${failure.retryAfter === undefined ? "in a minute" : `in ${formatDuration(failure.retryAfter)}`}, or use another model.`;
    case "overloaded":
      return `${label} is overloaded${detail || "."} Try again later, or use another model.`;
    case "context-too-long":
      return `The conversation exceeds the context window of this model at ${label}${detail || "."} Compact it, or use a model with a larger context window.`;
    case "filtered":
      return `A content filter of ${label} stopped this${detail || "."} Rephrase the prompt, or use another model.`;
    case "refused":
      return `${label} refused the request (${failure.status})${detail || "."} ${refusalAdvice(failure)}`;
    case "network":
      return `${failure.host} cannot be reached${detail || "."} Check the network, the proxy settings and the address.`;
    case "time-out":
      if (failure.phase === "whole")
        return `The response of ${label} was not complete after ${formatDuration(failure.ms)} (limits.answerTime). Nothing of it was used; try again, or use another model.`;
      return `${label} was silent for ${formatDuration(failure.ms)} ${timeoutPhases[failure.phase]}. Try again, or use another model.`;
    case "stream-cut":
      return `The response of ${label} was interrupted${detail || "."} Nothing of it was used; try again.`;
    case "malformed-stream":
      return `The response of ${label} is malformed${detail || "."} Nothing of it was used; if it happens again, check the address of the endpoint.`;
    case "cancelled":
      return "The request was cancelled. Nothing of the response was used.";
  }
};

const timeoutPhases = {
  headers: "after the request",
  "first-byte": "before the first byte of the response",
  idle: "in the middle of the response",
} as const;

const refusalAdvice = ({ status, rules }: Extract<Failure, { kind: "refused" }>): string => {
  const [first] = rules;
  if (first !== undefined) return `The rule it broke is ${first.rule} at ${first.pointer || "/"}.`;
  if (status === 404) return 'Check the name of the model with "parley models", and the address of the endpoint.';
  return "Check the settings for this model, or use another one.";
};

const sentenceEnd = (text: string): string => {
  const short = text.length > 600 ? `${text.slice(0, 600)}...` : text;
  return /[.!?]$/.test(short) ? short : `${short}.`;
};

const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.ceil(ms)} ms`;
  return ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;
};
