import { createHash, randomBytes } from "node:crypto";
import { openDesk } from "../world/desk.ts";
import type { Clock, World } from "../world/world.ts";
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
    const visit = await patiently(world.clock, desk.visit, signal);
    if (visit.type === "refused") throw new AuthProblem("no-key", `The sign-in was refused (${visit.why}).`);
    return await askForTokens(world, endpoints, {
      ...fieldsOf(client),
      grant_type: "authorization_code",
      code: visit.code,
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

const longestSignIn = 5 * 60_000;

const patiently = async <Brought>(
  clock: Clock,
  brought: Promise<Brought>,
  signal: AbortSignal | undefined,
): Promise<Brought> => {
  const over = new AbortController();
  const stop = (): void => over.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const tooLate = clock.sleep(longestSignIn, over.signal).then(() => {
    throw new AuthProblem("no-key", "Nobody finished the sign-in within five minutes. Start it again.");
  });
  try {
    return await Promise.race([brought, tooLate]);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
    tooLate.catch(() => undefined);
  }
};
