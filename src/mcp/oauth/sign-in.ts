import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { randomBytes } from "node:crypto";
import { openLoopbackServer, type LoopbackServer } from "../../world/real/loopback-server.ts";
import type { World } from "../../world/world.ts";
import { McpServerError } from "../server-error.ts";
import { createGuardedFetch, type FetchFunction, type GuardedFetchOptions } from "../connection/http-guard.ts";
import { createBrowserAuth, type SignInPage } from "./browser.ts";
import { readSignIn, signInPath, writeSignIn, type SignInTarget } from "./store.ts";

export type OAuthOptions = SignInTarget & {
  readonly world: World;
  /** Parley's own folder. */
  readonly home: string;
  readonly server: string;
  readonly lookup?: GuardedFetchOptions["lookup"];
};

/**
 * The OAuth provider for a server: stored tokens, refreshed when they expire, or client credentials; undefined where
 * there is neither. Never asks the user.
 */
export const loadStoredAuth = async (options: OAuthOptions): Promise<OAuthClientProvider | undefined> => {
  const { world, home, server, signIn } = options;
  if (signIn?.type === "never") return undefined;
  if (signIn?.type === "machine")
    return (await import("./client-credentials.ts")).createClientCredentialsAuth(server, options.url, signIn);
  const path = signInPath(home, options);
  const { tokens } = await readSignIn(world, path);
  if (tokens === undefined) return undefined;
  return createBrowserAuth(options, signIn, {
    redirect: "http://127.0.0.1/callback",
    state: "",
    show: async (_, scope) => {
      if (scope !== undefined) await writeSignIn(world, path, { ...(await readSignIn(world, path)), scope });
      throw new McpServerError("sign-in", `${server} requires a sign-in. Run parley mcp login ${server}.`);
    },
  });
};

/** Options of a sign-in in the browser. */
export type SignInOptions = OAuthOptions & {
  readonly show: (page: SignInPage) => void;
  /**
   * Called before the page is shown, where tokens would come from another host than the one users sign in to. Without
   * it, the sign-in is refused.
   */
  readonly confirm?: (page: SignInPage) => Promise<boolean>;
  readonly signal: AbortSignal;
};

/**
 * Signs the user in to a server: discovers the authorization server, registers this program, and waits for the browser
 * on a loopback port.
 */
export const signInWithBrowser = async (options: SignInOptions): Promise<void> => {
  const { world, home, server, url, signIn, lookup, signal } = options;
  if (signIn?.type === "never") throw new McpServerError("sign-in", `${server} has oauth.enabled set to false.`);
  if (signIn?.type === "machine")
    throw new McpServerError("sign-in", `${server} signs in by itself (client_credentials).`);
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const state = randomBytes(32).toString("base64url");
  const loopback = await openLoopbackServer(state, signIn?.redirect);
  try {
    const show = (page: SignInPage): Promise<void> => showIfConfirmed(page, options);
    const provider = await createBrowserAuth(options, signIn, { redirect: loopback.redirectUri, state, show });
    const fetchFn = createGuardedFetch({
      world,
      server: url,
      headers: {},
      maxPause: 30_000,
      ...(lookup && { lookup }),
    });
    const { scope: wanted } = await readSignIn(world, signInPath(home, options));
    const { scope: asked, ...challenge } = await fetchChallenge(url, fetchFn, signal);
    const scope = computeScopeUnion(signIn?.scopes?.join(" ") ?? asked, wanted);
    const request = { serverUrl: url, fetchFn, ...challenge, ...(scope === undefined ? {} : { scope }) };
    await provider.invalidateCredentials?.("all");
    if ((await auth(provider, request)) === "AUTHORIZED") return;
    const { code, issuer } = await waitForCallback(loopback, signal, world);
    await auth(provider, { ...request, authorizationCode: code, ...(issuer === undefined ? {} : { iss: issuer }) });
  } finally {
    loopback.close();
  }
};

const showIfConfirmed = async (
  page: SignInPage,
  { show, confirm = async () => false }: SignInOptions,
): Promise<void> => {
  if (page.tokenHost !== undefined && !(await confirm(page)))
    throw new McpServerError(
      "sign-in",
      `The tokens would come from ${page.tokenHost}, another host than the one that describes the sign-in. This was not confirmed.`,
    );
  show(page);
};

/** The server's WWW-Authenticate challenge for a request without a token. */
const fetchChallenge = async (
  url: string,
  fetch: FetchFunction,
  signal: AbortSignal,
): Promise<{ readonly scope?: string; readonly resourceMetadataUrl?: URL }> => {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetch(url, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  };
};

const maxSignInTime = 5 * 60_000;

const waitForCallback = async (
  { callback }: LoopbackServer,
  signal: AbortSignal,
  { clock }: World,
): Promise<{ readonly code: string; readonly issuer?: string }> => {
  const { withTimeout } = await import("../connection/timeout.ts");
  const result = await withTimeout({ clock, ms: maxSignInTime, signal }, () => callback);
  if (result.type === "refused") throw new McpServerError("sign-in", `The sign-in was refused (${result.reason}).`);
  return result;
};
