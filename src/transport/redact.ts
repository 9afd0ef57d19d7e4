import type { HttpHeaders } from "../world/net.ts";

const secretHeaders = [
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "x-amz-security-token",
  "proxy-authorization",
];

/** Returns the secrets in request headers. */
export const secretsInHeaders = (headers: HttpHeaders): readonly string[] =>
  secretHeaders.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [value, ...value.split(/[\s,=]+/)].filter((word) => word.length >= 8);
  });

/** Redacts secrets in a text. */
export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, "[secret]"), text);
