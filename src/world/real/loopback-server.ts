import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Waits on a port of this machine for a browser to come back from a sign-in. */
export type LoopbackServer = {
  readonly redirectUri: string;
  readonly callback: Promise<AuthorizationCallback>;
  readonly close: () => void;
};

/** What the browser brings. `issuer` is who sent it, where they say so; `why` is a single word. */
type AuthorizationCallback =
  | { readonly type: "code"; readonly code: string; readonly issuer?: string }
  | { readonly type: "refused"; readonly reason: string };

/**
 * Opens a desk, on a port of its own where `redirect` names none. Only a visit with this `state` is heard; all others are
 * turned away.
 */
export const openLoopbackServer = async (
  state: string,
  redirect = "http://127.0.0.1/callback",
): Promise<LoopbackServer> => {
  const { createServer } = await import("node:http");
  const address = new URL(redirect);
  let settle: ((visit: AuthorizationCallback) => void) | undefined;
  const visited = new Promise<AuthorizationCallback>((resolve) => (settle = resolve));
  let host = "";
  const server = createServer((request, response) => {
    const visit = hasExpectedHost(request, host) ? readCallback(request, state, address.pathname) : undefined;
    // Only once the page is out may the desk close.
    response.once("close", () => visit !== undefined && settle?.(visit));
    sendPage(response, visit);
  });
  const port = await listen(server, Number(address.port));
  host = `${address.hostname}:${port}`;
  return {
    // An address that was registered somewhere must come out letter by letter.
    redirectUri: address.port === "" ? `${address.protocol}//${host}${address.pathname}` : redirect,
    callback: visited,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });

/** A page of another site that gives its own name our address is turned away: the browser sends that name as host. */
const hasExpectedHost = ({ headersDistinct: { host = [] } }: IncomingMessage, expected: string): boolean =>
  host.length === 1 && host[0]?.toLowerCase() === expected.replace(/:80$/, "").toLowerCase();

const readCallback = (
  { method, url = "/" }: IncomingMessage,
  state: string,
  path: string,
): AuthorizationCallback | undefined => {
  // Read as a path alone: two slashes would begin a host.
  const address = `http://127.0.0.1${url.startsWith("/") ? "" : "/"}${url}`;
  if (!URL.canParse(address)) return undefined;
  const { pathname, searchParams } = new URL(address);
  if (method !== "GET" || pathname !== path || !isEqualInConstantTime(searchParams.get("state") ?? "", state))
    return undefined;
  const code = searchParams.get("code");
  const issuer = searchParams.get("iss");
  if (code !== null && code !== "") return { type: "code", code, ...(issuer === null ? {} : { issuer }) };
  // Error codes are single words; anything else might be meant for the person's eyes.
  return { type: "refused", reason: /^[a-z_]{1,40}$/.exec(searchParams.get("error") ?? "")?.[0] ?? "no reason" };
};

const isEqualInConstantTime = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const sendPage = (response: ServerResponse, visit: AuthorizationCallback | undefined): void => {
  const isGood = visit?.type === "code";
  const words =
    visit === undefined
      ? "There is nothing here."
      : `${isGood ? "You are signed in." : "The sign-in was refused."} You can close this window.`;
  response.writeHead(isGood ? 200 : 400, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${words}\n`);
};
