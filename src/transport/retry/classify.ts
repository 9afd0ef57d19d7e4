import type { ApiError } from "../../wire/decode/events.ts";
import type { Failure } from "../failure.ts";
import type { RetryHints } from "./hints.ts";

/** The provider an error is from. */
export type ProviderIdentity = { readonly provider: string; readonly label: string };

/** The classification of an error: the failure, whether a retry makes sense, and the minimum delay before it, in milliseconds. */
export type ErrorClassification = {
  readonly failure: Failure;
  readonly isRetryable: boolean;
  readonly minDelay: number;
};

/** An error reported by a server: with a status, or in the middle of a stream without one. */
export type ReportedError = {
  readonly status?: number;
  readonly hints?: RetryHints;
  readonly apiError: ApiError;
};

/** Classifies a reported error for retries. The status and the vendor's codes decide; messages only where vendors give nothing else. */
export const classifyError = (
  who: ProviderIdentity,
  { status: responseStatus, hints = {}, apiError }: ReportedError,
): ErrorClassification => {
  const status = responseStatus ?? apiError.status ?? statusOf(apiError);
  const minDelay = hints.delay ?? apiError.retryAfter ?? 0;
  const common = {
    ...who,
    detail: apiError.message,
    ...(responseStatus === undefined ? {} : { status: responseStatus }),
  };
  const kind = failureKindOf(status, apiError, minDelay);
  const failure = ((): Failure => {
    switch (kind) {
      case "refused":
        return { ...common, kind, status, rules: [] };
      case "rate-limited":
      case "quota-gone":
        return minDelay > 0 ? { ...common, kind, retryAfter: minDelay } : { ...common, kind };
      case "bad-key":
      case "no-credit":
      case "overloaded":
      case "context-too-long":
      case "filtered":
        return { ...common, kind };
    }
  })();
  const transient = kind === "rate-limited" || kind === "overloaded";
  return {
    failure,
    isRetryable:
      transient && hints.shouldRetry !== false ? true : hints.shouldRetry === true && mayRetryOnRequest(kind),
    minDelay,
  };
};

type ApiFailureKind =
  | "bad-key"
  | "no-credit"
  | "quota-gone"
  | "overloaded"
  | "context-too-long"
  | "filtered"
  | "refused"
  | "rate-limited";

/** Whether a server's request to retry is followed: not for failures that a retry cannot help. */
const mayRetryOnRequest = (kind: ApiFailureKind): boolean => kind === "refused";

const failureKindOf = (status: number, apiError: ApiError, minDelay: number): ApiFailureKind => {
  const codes = [apiError.code ?? "", ...(apiError.reasons ?? [])].join(" ");
  const codesAndMessage = `${codes} ${apiError.message}`;
  if (status === 402 || noCredit.test(codes) || noCreditWords.test(apiError.message)) return "no-credit";
  if (status < 500 && (filterCodes.test(codes) || filterWords.test(apiError.message))) return "filtered";
  if (status === 413 || contextCodes.test(codes)) return "context-too-long";
  if ((status === 400 || status === 422) && contextWords.test(apiError.message)) return "context-too-long";
  if (status === 401 || status === 403 || keyCodes.test(codes) || keyWords.test(apiError.message)) return "bad-key";
  if (/ServiceQuotaExceeded/.test(codes)) return "quota-gone";
  if (status === 429 || rateCodes.test(codes)) {
    if (dayCodes.test(codesAndMessage) || minDelay > longestRateDelay) return "quota-gone";
    return capacityCodes.test(codes) ? "overloaded" : "rate-limited";
  }
  if (status >= 500 || transientStatuses.has(status) || overloadCodes.test(codes)) return "overloaded";
  return "refused";
};

/** A server that asks for more than five minutes has a quota, not a rate limit. */
const longestRateDelay = 300_000;

const transientStatuses: ReadonlySet<number> = new Set([408, 409, 424, 425, 499]);

const noCredit =
  /insufficient_quota|insufficient_balance|billing_hard_limit|billing_not_active|exceeded_current_quota|arrearage|payment_required|\b1113\b|\b1008\b/i;
const noCreditWords =
  /credit balance is too low|insufficient (balance|credits?|funds)|exceeded your current quota, please check your plan/i;
const filterCodes = /content_filter|content_policy|policy_violation|data_?inspection|moderation|\b1301\b|\b1026\b/i;
const filterWords =
  /content management policy|flagged by|content filtering policy|requires moderation|data may contain inappropriate/i;
const contextCodes = /context_length_exceeded|context_window|request_too_large|string_above_max_length/i;
const contextWords =
  /prompt is too long|input is too long|context (length|window)|maximum context|(exceeds?|longer than) the (maximum|model).{0,40}(tokens?|context)|too many (input )?tokens|input token count|request too large|maximum prompt length|exceeded model token limit|range of input length|exceeds max length/i;
const keyCodes =
  /invalid_api_key|authentication_error|permission_error|UNAUTHENTICATED|API_KEY_INVALID|AccessDenied|UnrecognizedClient|InvalidSignature|ExpiredToken|invalid_authentication/i;
const keyWords = /API key not valid|API key expired|incorrect api key|invalid api key|no auth credentials/i;
const rateCodes = /rate_?limit|throttling|too_many_requests|TooManyRequests/i;
const dayCodes = /PerDay|per day|QUOTA_EXHAUSTED|daily|spend_limit|ramp_limit|usage limit reached/i;
const overloadCodes =
  /overloaded|server_error|api_error|internal_?server|service_?unavailable|UNAVAILABLE|MODEL_CAPACITY|ModelNotReady|ModelTimeout|model_?stream_?error|ModelError|engine_overloaded|internal_error|timeout_error/i;

/** Too many requests by everyone, not by us. */
const capacityCodes = /overloaded|MODEL_CAPACITY|ModelNotReady/i;
const requestCodes = /invalid|bad_?request|validation|not_?found|unsupported/i;

/** Returns a status for an error within a stream, which has a name but no status. The request was accepted, so an unknown name is a server error. */
const statusOf = ({ code = "" }: ApiError): number => {
  if (/^\d{3}$/.test(code)) return Number(code);
  if (overloadCodes.test(code)) return 503;
  if (rateCodes.test(code)) return 429;
  if (keyCodes.test(code)) return 401;
  return requestCodes.test(code) ? 400 : 500;
};
