import { hashToken, isSameSecret } from "../http/request-guard.ts";
import type { HttpHeaders } from "../world/net.ts";
import { GatewayError } from "./exchange.ts";
import type { GatewayConfig } from "./routes/config.ts";

/**
 * Finds the client of a request by its token: a bearer token, or the key headers and the query parameter of the APIs.
 * Undefined where no client is configured, so that none is needed. Throws a `GatewayError`.
 */
export const identifyClient = (
  headers: HttpHeaders,
  query: URLSearchParams,
  { clients = {} }: GatewayConfig,
): string | undefined => {
  const names = Object.entries(clients);
  if (names.length === 0) return undefined;
  const token = tokenOf(headers, query);
  if (token === undefined) throw new GatewayError({ kind: "bad-token", detail: "The request has no token." });
  const hash = hashToken(token);
  // All are compared, so that the time does not tell which one is near.
  const found = names.filter(([, { tokenHash }]) =>
    isSameSecret(hash, tokenHash.replace(/^sha256:/, "").toLowerCase()),
  );
  const [first] = found;
  if (first === undefined) throw new GatewayError({ kind: "bad-token" });
  return first[0];
};

const tokenOf = (headers: HttpHeaders, query: URLSearchParams): string | undefined => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1];
  const tokens = [bearer, headers["x-api-key"], headers["x-goog-api-key"], query.get("key") ?? undefined];
  return tokens.find((token) => token !== undefined && token !== "");
};
