import { createHash, randomBytes } from "node:crypto";
import { openLoopbackServer } from "../../world/real/loopback-server.ts";
import type { Clock, World } from "../../world/world.ts";
import { requestJson, getField, formRequest, getText } from "./http.ts";
import { AuthError } from "./api-key.ts";

/** An OAuth client. The secret of an installed application is not really secret. */
export type OAuthClient = { readonly id: string; readonly secret?: string };

/** The endpoints of an OAuth server. */
export type OAuthEndpoints = { readonly authorize: string; readonly token: string; readonly revoke: string };

/** Tokens as received. `expires` is in milliseconds since 1970. */
export type OAuthTokens = { readonly access: string; readonly expires: number; readonly refresh?: string };

/** Options of an OAuth sign-in. */
export type OAuthSignInOptions = {
  readonly client: OAuthClient;
  readonly endpoints: OAuthEndpoints;
  readonly scopes: readonly string[];
  /** Shows the URL to open; the caller decides whether to open a browser. */
  readonly show: (url: string) => void;
  readonly signal?: AbortSignal;
};

/**
 * Signs a user in with a browser (OAuth authorization code with PKCE); waits at most five minutes. The redirect goes to a
 * loopback server, is bound to this attempt by `state`, and its code is useless without the verifier.
 */
export const signIn = async (world: Pick<World, "net" | "clock">, how: OAuthSignInOptions): Promise<OAuthTokens> => {
  const { client, endpoints, scopes, show, signal } = how;
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(48).toString("base64url");
  const desk = await openLoopbackServer(state);
  try {
    const url = new URL(endpoints.authorize);
    url.search = new URLSearchParams({
      client_id: client.id,
      redirect_uri: desk.redirectUri,
      response_type: "code",
      scope: scopes.join(" "),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
      access_type: "offline",
      prompt: "consent",
    }).toString();
    show(url.href);
    const visit = await withSignInTimeout(world.clock, desk.callback, signal);
    if (visit.type === "refused") throw new AuthError("no-key", `The sign-in was refused (${visit.reason}).`);
    return await requestTokens(world, endpoints, {
      ...fieldsOf(client),
      grant_type: "authorization_code",
      code: visit.code,
      redirect_uri: desk.redirectUri,
      code_verifier: verifier,
    });
  } finally {
    desk.close();
  }
};

/** Refreshes the tokens. */
export const refreshTokens = (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  client: OAuthClient,
  refresh: string,
): Promise<OAuthTokens> =>
  requestTokens(world, endpoints, { ...fieldsOf(client), grant_type: "refresh_token", refresh_token: refresh });

/** Revokes a token; true if the server confirmed it. */
export const revokeToken = async (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  token: string,
): Promise<boolean> => {
  const { status } = await requestJson(world, formRequest(endpoints.revoke, { token }));
  return status === 200;
};

const fieldsOf = ({ id, secret }: OAuthClient): Readonly<Record<string, string | undefined>> => ({
  client_id: id,
  client_secret: secret,
});

const requestTokens = async (
  world: Pick<World, "net" | "clock">,
  endpoints: OAuthEndpoints,
  fields: Readonly<Record<string, string | undefined>>,
): Promise<OAuthTokens> => {
  const { status, body } = await requestJson(world, formRequest(endpoints.token, fields));
  const access = getText(body, "access_token");
  const seconds = getField(body, "expires_in");
  const refresh = getText(body, "refresh_token");
  if (status !== 200 || access === undefined)
    throw new AuthError(
      "bad-key",
      `The sign-in service gives no token (${errorCodeIn(getText(body, "error")) ?? status}).`,
    );
  return {
    access,
    expires: world.clock.now() + (typeof seconds === "number" && seconds > 0 ? seconds : 0) * 1000,
    ...(refresh === undefined ? {} : { refresh }),
  };
};

/** Returns an OAuth error code. Codes are single words; other text might quote what we sent. */
const errorCodeIn = (text: string | undefined): string | undefined =>
  text !== undefined && /^[a-z_]{1,40}$/.test(text) ? text : undefined;

const signInTimeout = 5 * 60_000;

const withSignInTimeout = async <Brought>(
  clock: Clock,
  brought: Promise<Brought>,
  signal: AbortSignal | undefined,
): Promise<Brought> => {
  const over = new AbortController();
  const stop = (): void => over.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const tooLate = clock.sleep(signInTimeout, over.signal).then(() => {
    throw new AuthError("no-key", "The sign-in was not finished within five minutes. Start it again.");
  });
  try {
    return await Promise.race([brought, tooLate]);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
    tooLate.catch(() => undefined);
  }
};
