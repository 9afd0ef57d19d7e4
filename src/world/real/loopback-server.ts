import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** A loopback HTTP server that receives the browser's redirect at the end of an OAuth sign-in. */
export type LoopbackServer = {
  readonly redirectUri: string;
  readonly callback: Promise<AuthorizationCallback>;
  readonly close: () => void;
};

/** The query of the redirect. `issuer` is the `iss` parameter where there is one; `reason` is a single word. */
type AuthorizationCallback =
  | { readonly type: "code"; readonly code: string; readonly issuer?: string }
  | { readonly type: "refused"; readonly reason: string };

/**
 * Starts a loopback server, on a free port where `redirect` names none. Accepts only a request with this `state`; all
 * others get an error page.
 */
export const openLoopbackServer = async (
  state: string,
  redirect = "http://127.0.0.1/callback",
): Promise<LoopbackServer> => {
  const { createServer } = await import("node:http");
  const address = new URL(redirect);
  let settle: ((callback: AuthorizationCallback) => void) | undefined;
  const callback = new Promise<AuthorizationCallback>((resolve) => (settle = resolve));
  let host = "";
  const server = createServer((request, response) => {
    const callback = hasExpectedHost(request, host) ? readCallback(request, state, address.pathname) : undefined;
    // The server may close only after the page has been sent.
    response.once("close", () => callback !== undefined && settle?.(callback));
    sendPage(response, callback);
  });
  const port = await listen(server, Number(address.port));
  host = `${address.hostname}:${port}`;
  return {
    // A registered redirect URI must be sent back character for character.
    redirectUri: address.port === "" ? `${address.protocol}//${host}${address.pathname}` : redirect,
    callback,
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

/** Rejects DNS rebinding: a page of another site that points its own name at our address sends that name as Host. */
const hasExpectedHost = ({ headersDistinct: { host = [] } }: IncomingMessage, expected: string): boolean =>
  host.length === 1 && host[0]?.toLowerCase() === expected.replace(/:80$/, "").toLowerCase();

const readCallback = (
  { method, url = "/" }: IncomingMessage,
  state: string,
  path: string,
): AuthorizationCallback | undefined => {
  // Parsed as a path alone: two slashes would begin a host.
  const address = `http://127.0.0.1${url.startsWith("/") ? "" : "/"}${url}`;
  if (!URL.canParse(address)) return undefined;
  const { pathname, searchParams } = new URL(address);
  if (method !== "GET" || pathname !== path || !isEqualInConstantTime(searchParams.get("state") ?? "", state))
    return undefined;
  const code = searchParams.get("code");
  const issuer = searchParams.get("iss");
  if (code !== null && code !== "") return { type: "code", code, ...(issuer === null ? {} : { issuer }) };
  // OAuth error codes are single words; anything else could be a message planted for the user.
  return { type: "refused", reason: /^[a-z_]{1,40}$/.exec(searchParams.get("error") ?? "")?.[0] ?? "no reason" };
};

const isEqualInConstantTime = (actual: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const sendPage = (response: ServerResponse, callback: AuthorizationCallback | undefined): void => {
  const isSignedIn = callback?.type === "code";
  const message =
    callback === undefined
      ? "Not found."
      : `${isSignedIn ? "You are signed in." : "The sign-in was refused."} You can close this window.`;
  response.writeHead(isSignedIn ? 200 : 400, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${message}\n`);
};
