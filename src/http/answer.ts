import type { ServerResponse } from "node:http";

/** Headers of every answer: no guess of types, no cache, no frame, no script. */
export const safeHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

/** Sends JSON. Does nothing if the other side is gone or an answer has begun. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void =>
  sendBytes(response, status, JSON.stringify(value), { "content-type": "application/json; charset=utf-8", ...headers });

/** Sends bytes or text with their length. */
export const sendBytes = (
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void => {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...safeHeaders, ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
};
