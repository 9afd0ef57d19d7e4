import type { HttpHeaders } from "../../world/net.ts";

/** A server's hints about retries. `delay` is in milliseconds. */
export type RetryHints = { readonly delay?: number; readonly shouldRetry?: boolean };

/** Parses the retry headers (`retry-after`, `retry-after-ms`, `x-should-retry`). Invalid values are ignored. */
export const parseRetryHints = (headers: HttpHeaders, now: number): RetryHints => {
  const delay = milliseconds(headers["retry-after-ms"]) ?? secondsOrDate(headers["retry-after"], now);
  const shouldRetry = headers["x-should-retry"];
  return {
    ...(delay === undefined ? {} : { delay }),
    ...(shouldRetry === "true" || shouldRetry === "false" ? { shouldRetry: shouldRetry === "true" } : {}),
  };
};

const milliseconds = (value: string | undefined): number | undefined => {
  if (value === undefined || value.trim() === "") return undefined;
  const ms = Number(value);
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
};

const secondsOrDate = (value: string | undefined, now: number): number | undefined => {
  const seconds = milliseconds(value);
  if (seconds !== undefined) return seconds * 1000;
  if (value === undefined || /^\s*[-+]?[\d.]+\s*$/.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};
