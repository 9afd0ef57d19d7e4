import type { OAuthClientMetadata, OAuthClientProvider } from "@modelcontextprotocol/client";
import { randomBytes } from "node:crypto";
import { bareHost } from "../policy/network.ts";
import { notPublic } from "../policy/network-address.ts";
import type { World } from "../world/world.ts";
import { ServerFailure } from "./failure.ts";
import { guardedFetch, type Fetch, type GuardOptions } from "./http-guard.ts";
import { openDesk, type Desk } from "./oauth-desk.ts";
import { readSignIn, signInFile, writeSignIn, type SignedIn } from "./oauth-store.ts";

export type OAuthOptions = {
  readonly world: World;
  /** The folder of Parley's own things. */
  readonly home: string;
  readonly server: string;
  readonly url: string;
  readonly lookup?: GuardOptions["lookup"];
};

/** What a person sees before they sign in: the address to open, and who gets to know what. */
export type SignInPage = {
  readonly url: string;
  /** Who asks for the sign-in. */
  readonly authorizes: string;
  /** Who hands out the tokens, where that is somebody else. */
  readonly issuesTokens?: string;
};

/** The tokens of an earlier sign-in, renewed when they run out; undefined where there was none. Asks nobody. */
export const storedAuth = async (options: OAuthOptions): Promise<OAuthClientProvider | undefined> => {
  const path = signInFile(options.home, options.url);
  const { tokens } = await readSignIn(options.world, path);
  if (tokens === undefined) return undefined;
  return providerFor(options, {
    redirect: "http://127.0.0.1/callback",
    state: "",
    show: async (_, scope) => {
      if (scope !== undefined)
        await writeSignIn(options.world, path, { ...(await readSignIn(options.world, path)), scope });
      throw new ServerFailure("sign-in", `${options.server} wants a sign-in. Run parley mcp login ${options.server}.`);
    },
  });
};

/**
 * Lets a person sign in at a server: finds out who signs people in there, introduces this program, and waits for the
 * browser to come back to a port of this machine alone.
 */
export const signInAt = async (
  options: OAuthOptions & { readonly show: (page: SignInPage) => void; readonly signal: AbortSignal },
): Promise<void> => {
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const { world, url, lookup, signal, show } = options;
  const state = randomBytes(32).toString("base64url");
  const desk = await openDesk(state);
  try {
    const provider = await providerFor(options, { redirect: desk.redirect, state, show });
    const fetchFn = guardedFetch({ world, server: url, headers: {}, patience: 30_000, ...(lookup && { lookup }) });
    const { scope: wanted } = await readSignIn(world, signInFile(options.home, url));
    const { scope: asked, ...challenge } = await challengeOf(url, fetchFn, signal);
    const scope = computeScopeUnion(asked, wanted);
    const question = { serverUrl: url, fetchFn, ...challenge, ...(scope === undefined ? {} : { scope }) };
    await provider.invalidateCredentials?.("all");
    if ((await auth(provider, question)) === "AUTHORIZED") return;
    const { code, issuer } = await answerAt(desk, signal, world);
    await auth(provider, { ...question, authorizationCode: code, ...(issuer === undefined ? {} : { iss: issuer }) });
  } finally {
    desk.close();
  }
};

/** What a server says that it wants when nobody has signed in. */
const challengeOf = async (
  url: string,
  fetch: Fetch,
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

const longestSignIn = 5 * 60_000;

const answerAt = async (desk: Desk, signal: AbortSignal, { clock }: World): ReturnType<Desk["answer"]> => {
  const { within } = await import("./within.ts");
  return within({ clock, ms: longestSignIn, signal }, () => desk.answer());
};

type Introduction = {
  readonly redirect: string;
  readonly state: string;
  readonly show: (page: SignInPage, scope: string | undefined) => void | Promise<void>;
};

const providerFor = async (
  { world, home, url }: OAuthOptions,
  { redirect, state, show }: Introduction,
): Promise<OAuthClientProvider> => {
  const path = signInFile(home, url);
  let known: SignedIn = await readSignIn(world, path);
  let verifier = "";
  const keep = async (more: Partial<SignedIn>): Promise<void> => {
    known = { ...known, ...more };
    await writeSignIn(world, path, known);
  };
  return {
    redirectUrl: redirect,
    clientMetadata: metadataFor(redirect),
    state: () => state,
    clientInformation: () => known.client,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => known.tokens,
    saveTokens: (tokens) => keep({ tokens }),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => known.discovery,
    redirectToAuthorization: (address) => show(pageFor(address, known), address.searchParams.get("scope") ?? undefined),
    invalidateCredentials: async (scope) => {
      const { client, tokens, discovery } = known;
      known = {};
      if (scope === "all" || scope === "verifier") return;
      await keep({
        ...(client === undefined || scope === "client" ? {} : { client }),
        ...(tokens === undefined || scope === "tokens" ? {} : { tokens }),
        ...(discovery === undefined || scope === "discovery" ? {} : { discovery }),
      });
    },
  };
};

const metadataFor = (redirect: string): OAuthClientMetadata => ({
  client_name: "Parley",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** Only an address of the web is ever shown to be opened; in the open, only one on this machine. */
const pageFor = (address: URL, { discovery }: SignedIn): SignInPage => {
  const isHere = notPublic(bareHost(address)) === "this machine" || bareHost(address) === "localhost";
  if (address.protocol !== "https:" && !(address.protocol === "http:" && isHere))
    throw new ServerFailure(
      "sign-in",
      `The server names ${address.protocol} as the place to sign in. It is not opened.`,
    );
  const token = discovery?.authorizationServerMetadata?.token_endpoint;
  const issuer = token === undefined ? address.host : new URL(token).host;
  return {
    url: address.href,
    authorizes: address.host,
    ...(issuer === address.host ? {} : { issuesTokens: issuer }),
  };
};
