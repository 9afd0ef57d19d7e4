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
  /** The folder of Parley's own things. */
  readonly home: string;
  readonly server: string;
  readonly lookup?: GuardedFetchOptions["lookup"];
};

/**
 * What to show a server: the tokens of an earlier sign-in, renewed when they run out, or a machine's own proof; undefined
 * where there is neither. Asks nobody.
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
      throw new McpServerError("sign-in", `${server} wants a sign-in. Run parley mcp login ${server}.`);
    },
  });
};

/** How a person signs in. */
export type SignInOptions = OAuthOptions & {
  readonly show: (page: SignInPage) => void;
  /** Asked before anything is shown, where tokens would come from somebody else than whoever signs people in. Without it, no. */
  readonly confirm?: (page: SignInPage) => Promise<boolean>;
  readonly signal: AbortSignal;
};

/**
 * Lets a person sign in at a server: finds out who signs people in there, introduces this program, and waits for the
 * browser to come back to a port of this machine alone.
 */
export const signInWithBrowser = async (options: SignInOptions): Promise<void> => {
  const { world, home, server, url, signIn, lookup, signal } = options;
  if (signIn?.type === "never") throw new McpServerError("sign-in", `${server} has oauth.enabled set to false.`);
  if (signIn?.type === "machine") throw new McpServerError("sign-in", `${server} signs in by itself, as a machine.`);
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const state = randomBytes(32).toString("base64url");
  const desk = await openLoopbackServer(state, signIn?.redirect);
  try {
    const show = (page: SignInPage): Promise<void> => showIfConfirmed(page, options);
    const provider = await createBrowserAuth(options, signIn, { redirect: desk.redirectUri, state, show });
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
    const question = { serverUrl: url, fetchFn, ...challenge, ...(scope === undefined ? {} : { scope }) };
    await provider.invalidateCredentials?.("all");
    if ((await auth(provider, question)) === "AUTHORIZED") return;
    const { code, issuer } = await waitForCallback(desk, signal, world);
    await auth(provider, { ...question, authorizationCode: code, ...(issuer === undefined ? {} : { iss: issuer }) });
  } finally {
    desk.close();
  }
};

const showIfConfirmed = async (
  page: SignInPage,
  { show, confirm: agree = async () => false }: SignInOptions,
): Promise<void> => {
  if (page.tokenHost !== undefined && !(await agree(page)))
    throw new McpServerError(
      "sign-in",
      `The tokens would come from ${page.tokenHost}, which is not where the sign-in is described. Nobody agreed to that.`,
    );
  show(page);
};

/** What a server says that it wants when nobody has signed in. */
const fetchChallenge = async (
  url: string,
  fetch: FetchFunction,
  signal: AbortSignal,
): Promise<{ readonly scope?: string; readonly resourceMetadataUrl?: URL }> => {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const answer = await fetch(url, { method: "POST", headers, body, signal });
  await answer.body?.cancel();
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  };
};

const maxSignInTime = 5 * 60_000;

const waitForCallback = async (
  { callback: visit }: LoopbackServer,
  signal: AbortSignal,
  { clock }: World,
): Promise<{ readonly code: string; readonly issuer?: string }> => {
  const { withTimeout } = await import("../connection/timeout.ts");
  const brought = await withTimeout({ clock, ms: maxSignInTime, signal }, () => visit);
  if (brought.type === "refused") throw new McpServerError("sign-in", `The sign-in was refused (${brought.reason}).`);
  return brought;
};
