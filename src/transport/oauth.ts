import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Clock, World } from "../world/index.ts";
import { askJson, fieldIn, formRequest, textIn } from "./credentials-http.ts";
import { AuthProblem } from "./credentials-key.ts";

/** An application that may ask people to sign in. Installed applications have a secret that is none. */
export type OAuthClient = { readonly id: string; readonly secret?: string };

/** The three addresses of a sign-in service. */
export type OAuthEndpoints = { readonly authorize: string; readonly token: string; readonly revoke: string };

/** Tokens as just received. `expires` is in milliseconds since 1970. */
export type OAuthTokens = { readonly access: string; readonly expires: number; readonly refresh?: string };

/** How a person signs in. */
export type SignIn = {
  readonly client: OAuthClient;
  readonly endpoints: OAuthEndpoints;
  readonly scopes: readonly string[];
  /** Shows the address to open; whether a browser is opened is the caller's matter. */
  readonly show: (url: string) => void;
  readonly signal?: AbortSignal;
};

/**
 * Lets a person sign in with a browser, and waits at most five minutes for
 * them. The answer comes to a port of this machine alone, is bound to this
 * attempt by `state`, and is worthless without the verifier only we know.
 */
export const signIn = async (world: Pick<World, "net" | "clock">, how: SignIn): Promise<OAuthTokens> => {
  const { client, endpoints, scopes, show, signal } = how;
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(48).toString("base64url");
  const desk = await openDesk(state);
  try {
    const url = new URL(endpoints.authorize);
    url.search = new URLSearchParams({
      client_id: client.id,
      redirect_uri: desk.redirect,
      response_type: "code",
      scope: scopes.join(" "),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
      access_type: "offline",
      prompt: "consent",
    }).toString();
    show(url.href);
    const code = await patiently(world.clock, desk.code, signal);
    return await askForTokens(world, endpoints, {
      ...fieldsOf(client),
      grant_type: "authorization_code",
      code,
      redirect_uri: desk.redirect,
      code_verifier: verifier,
    });
  } finally {
    desk.close();
  }
};

/** New tokens for old. */
export const refreshTokens = (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  client: OAuthClient,
  refresh: string,
): Promise<OAuthTokens> =>
  askForTokens(world, endpoints, { ...fieldsOf(client), grant_type: "refresh_token", refresh_token: refresh });

/** Makes a token worthless at the service; true when it said so. */
export const revokeToken = async (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  token: string,
): Promise<boolean> => {
  const { status } = await askJson(world, formRequest(endpoints.revoke, { token }));
  return status === 200;
};

const fieldsOf = ({ id, secret }: OAuthClient): Readonly<Record<string, string | undefined>> => ({
  client_id: id,
  client_secret: secret,
});

const askForTokens = async (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  fields: Readonly<Record<string, string | undefined>>,
): Promise<OAuthTokens> => {
  const { status, body } = await askJson(world, formRequest(endpoints.token, fields));
  const access = textIn(body, "access_token");
  const seconds = fieldIn(body, "expires_in");
  const refresh = textIn(body, "refresh_token");
  if (status !== 200 || access === undefined)
    throw new AuthProblem(
      "bad-key",
      `The sign-in service gives no token (${wordIn(textIn(body, "error")) ?? status}).`,
    );
  return {
    access,
    expires: world.clock.now() + (typeof seconds === "number" && seconds > 0 ? seconds : 0) * 1000,
    ...(refresh === undefined ? {} : { refresh }),
  };
};

/** Error codes are single words; anything else might quote what we sent. */
const wordIn = (text: string | undefined): string | undefined =>
  text !== undefined && /^[a-z_]{1,40}$/.test(text) ? text : undefined;

type Desk = { readonly redirect: string; readonly code: Promise<string>; readonly close: () => void };

/** Waits on a port of this machine for the browser to bring the code. */
const openDesk = async (state: string): Promise<Desk> => {
  const { createServer } = await import("node:http");
  let settle: { readonly done: (code: string) => void; readonly fail: (error: Error) => void } | undefined;
  const code = new Promise<string>((done, fail) => (settle = { done, fail }));
  code.catch(() => undefined);
  const server = createServer((request, response) => {
    const outcome = readVisit(request, state);
    // Only once the page is out may the desk close.
    response.once("close", () => {
      if (outcome instanceof Error) settle?.fail(outcome);
      else if (outcome !== undefined) settle?.done(outcome);
    });
    greet(response, outcome);
  });
  const port = await listen(server);
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    code,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });

/** The code, a refusal, or undefined for a visit that is none of ours. */
const readVisit = (request: IncomingMessage, state: string): string | Error | undefined => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
  if (request.method !== "GET" || pathname !== "/callback" || !isSame(searchParams.get("state") ?? "", state))
    return undefined;
  const code = searchParams.get("code");
  if (code !== null && code !== "") return code;
  return new AuthProblem(
    "no-key",
    `The sign-in was refused (${wordIn(searchParams.get("error") ?? "") ?? "no reason"}).`,
  );
};

const isSame = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const greet = (response: ServerResponse, outcome: string | Error | undefined): void => {
  const isGood = typeof outcome === "string";
  const words =
    outcome === undefined
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

const longestSignIn = 5 * 60_000;

const patiently = async (clock: Clock, code: Promise<string>, signal: AbortSignal | undefined): Promise<string> => {
  const over = new AbortController();
  const stop = (): void => over.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const tooLate = clock.sleep(longestSignIn, over.signal).then(() => {
    throw new AuthProblem("no-key", "Nobody finished the sign-in within five minutes. Start it again.");
  });
  try {
    return await Promise.race([code, tooLate]);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
    tooLate.catch(() => undefined);
  }
};
