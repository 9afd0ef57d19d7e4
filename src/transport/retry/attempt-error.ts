import { readBodyText, NetError, type HttpRequest, type HttpResponse } from "../../world/net.ts";
import type { Clock } from "../../world/world.ts";
import type { BoundWire } from "../../wire/bind.ts";
import type { ApiError } from "../../wire/decode/events.ts";
import { classifyError, type ErrorClassification, type ProviderIdentity } from "./classify.ts";
import { parseJsonOrUndefined } from "../credentials/http.ts";
import type { Failure } from "../failure.ts";
import { MalformedStreamError } from "../stream/frames.ts";
import { parseRetryHints } from "./hints.ts";
import { secretsInHeaders, redactSecrets } from "../redact.ts";
import { phaseNames, ResponseTimeoutError } from "../stream/timeouts.ts";

/** One failed attempt. `apiError` is the server's error, if it reported one. */
export class AttemptError extends Error {
  readonly classification: ErrorClassification;
  readonly apiError: ApiError | undefined;

  constructor(classification: ErrorClassification, { apiError, cause }: { apiError?: ApiError; cause?: unknown } = {}) {
    super(classification.failure.kind, { cause });
    this.classification = classification;
    this.apiError = apiError;
  }
}

/** The wire to parse an error with, the provider it is from, and the clock for dates in it. */
export type ErrorSource = {
  readonly wire: BoundWire;
  readonly who: ProviderIdentity;
  readonly clock: Pick<Clock, "now">;
};

/** Reads an error response to its end and classifies it; undefined for a success. */
export const readErrorResponse = async (
  response: HttpResponse,
  from: ErrorSource,
): Promise<AttemptError | undefined> => {
  const { status, headers } = response;
  const { wire, who, clock } = from;
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return redirectError(who, response);
  const text = await readBodyText(response, 2 ** 20);
  const body = parseJsonOrUndefined(text);
  const apiError = (body === undefined ? undefined : wire.decode.parseError(body)) ?? {
    message: plainTextOf(text, status),
  };
  const reported = {
    status,
    hints: parseRetryHints(headers, clock.now()),
    apiError: withExceptionName(apiError, response),
  };
  return new AttemptError(classifyError(who, reported), reported);
};

/** Converts a network error, a timeout or a malformed stream to an `AttemptError`; other errors are returned unchanged. */
export const toAttemptError = (error: unknown, who: ProviderIdentity, request: HttpRequest): unknown => {
  const retryable = (failure: Failure): AttemptError =>
    new AttemptError({ failure, isRetryable: true, minDelay: 0 }, { cause: error });
  // Not retried: another hour would hardly help.
  if (error instanceof ResponseTimeoutError && error.phase === "whole")
    return new AttemptError(
      { failure: { ...who, kind: "time-out", phase: "whole", ms: error.ms }, isRetryable: false, minDelay: 0 },
      { cause: error },
    );
  if (error instanceof ResponseTimeoutError)
    return retryable({ ...who, kind: "time-out", phase: phaseNames[error.phase], ms: error.ms });
  if (error instanceof MalformedStreamError)
    return retryable({ ...who, kind: "malformed-stream", detail: error.message });
  if (!(error instanceof NetError)) return error;
  if (error.isPermanent)
    return new AttemptError(
      {
        failure: { ...who, kind: "network", host: new URL(request.url).host, detail: error.message },
        isRetryable: false,
        minDelay: 0,
      },
      { cause: error },
    );
  if (error.at === "connect")
    return retryable({ ...who, kind: "network", host: new URL(request.url).host, detail: error.message });
  return retryable({ ...who, kind: "stream-cut", ...(error.message === "" ? {} : { detail: error.message }) });
};

/** Redacts the request's secrets in an error: some servers quote the key they refuse. */
export const redactAttemptError = (error: AttemptError, request: HttpRequest): AttemptError => {
  const secrets = secretsInHeaders(request.headers);
  const { classification, apiError, cause } = error;
  const { detail } = classification.failure;
  if (detail === undefined) return error;
  const failure: Failure = { ...classification.failure, detail: redactSecrets(detail, secrets) };
  return new AttemptError({ ...classification, failure }, { ...(apiError === undefined ? {} : { apiError }), cause });
};

/** Adds the exception name, which Amazon sends in a header. */
const withExceptionName = (apiError: ApiError, { headers }: HttpResponse): ApiError => {
  const name = headers["x-amzn-errortype"]?.split(":")[0];
  return name === undefined || name === "" || apiError.code !== undefined ? apiError : { ...apiError, code: name };
};

/** Returns a quotable message for an error that is no JSON: short text, but no web page. */
const plainTextOf = (text: string, status: number): string => {
  const trimmed = text.trim();
  return trimmed === "" || trimmed.startsWith("<") ? `status ${status}` : trimmed.slice(0, 300);
};

const redirectError = (who: ProviderIdentity, { status, headers }: HttpResponse): AttemptError => {
  const to = URL.canParse(headers["location"] ?? "") ? new URL(headers["location"] ?? "").host : "elsewhere";
  const detail = `It points to ${to}, and a request with a key in it is not sent on`;
  return new AttemptError({
    failure: { ...who, kind: "refused", status, detail, rules: [] },
    isRetryable: false,
    minDelay: 0,
  });
};
