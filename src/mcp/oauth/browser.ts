import type { OAuthClientMetadata, OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { normalizeHost } from "../../policy/network/judge-url.ts";
import { nonPublicReason } from "../../policy/network/public-address.ts";
import type { World } from "../../world/world.ts";
import type { SignInConfig } from "../config/oauth.ts";
import { McpServerError } from "../server-error.ts";
import { readSignIn, signInPath, writeSignIn, type StoredSignIn, type SignInTarget } from "./store.ts";

/** The page shown to the user before a sign-in: the URL to open, and the hosts involved. */
export type SignInPage = {
  readonly url: string;
  /** The host that asks for the sign-in. */
  readonly authorizationHost: string;
  /** The host that issues the tokens, where it differs and was not configured. */
  readonly tokenHost?: string;
};

type BrowserSignInConfig = Extract<SignInConfig, { type: "person" }> | undefined;

/** The redirect, the state, and how to show the page. */
export type BrowserFlow = {
  readonly redirect: string;
  readonly state: string;
  readonly show: (page: SignInPage, scope: string | undefined) => Promise<void>;
};

/** Creates the OAuth provider for a sign-in in the browser, from stored and configured data. */
export const createBrowserAuth = async (
  target: SignInTarget & { readonly world: Pick<World, "files" | "clock">; readonly home: string },
  config: BrowserSignInConfig,
  { redirect, state, show }: BrowserFlow,
): Promise<OAuthClientProvider> => {
  const { world, home } = target;
  const path = signInPath(home, target);
  let known: StoredSignIn = await readSignIn(world, path);
  let verifier = "";
  /** Takes over tokens that another process refreshed meanwhile: most services accept a refresh token once. */
  const takeNewer = async (): Promise<boolean> => {
    const { tokens } = await readSignIn(world, path);
    if (tokens === undefined || tokens.access_token === known.tokens?.access_token) return false;
    known = { ...known, tokens };
    return true;
  };
  const keep = async (more: Partial<StoredSignIn>): Promise<void> => {
    known = { ...known, ...more };
    await writeSignIn(world, path, known);
  };
  return {
    ...createClientRegistration(config, () => known, keep),
    redirectUrl: redirect,
    clientMetadata: createClientMetadata(redirect),
    state: () => state,
    tokens: async () => {
      if (known.tokens !== undefined) await takeNewer();
      return known.tokens;
    },
    saveTokens: (tokens) => keep({ tokens }),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => known.discovery ?? configuredAuthorizationServer(config),
    redirectToAuthorization: (address) =>
      show(createSignInPage(address, known, config), address.searchParams.get("scope") ?? undefined),
    invalidateCredentials: async (scope) => {
      if (scope === "tokens" && known.tokens !== undefined)
        for (let attempt = 0; attempt < refreshRetries.times; attempt += 1) {
          if (await takeNewer()) return;
          await world.clock.sleep(refreshRetries.ms);
        }
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

/** Another process whose refresh made ours fail may not have written its tokens yet. */
const refreshRetries = { times: 10, ms: 50 };

type ClientRegistration = Pick<
  OAuthClientProvider,
  "clientInformation" | "saveClientInformation" | "clientMetadataUrl"
>;

/** The client's identity: registered beforehand, described by a metadata document, or registered dynamically. */
const createClientRegistration = (
  config: BrowserSignInConfig,
  known: () => StoredSignIn,
  keep: (more: Partial<StoredSignIn>) => Promise<void>,
): ClientRegistration => {
  const { clientId, clientSecret, issuer } = config ?? {};
  const registering: ClientRegistration = {
    clientInformation: () => known().client,
    saveClientInformation: (client) => keep({ client }),
  };
  if (clientId === undefined) return registering;
  if (isMetadataUrl(clientId)) return { ...registering, clientMetadataUrl: clientId };
  return {
    clientInformation: () => ({
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
    }),
  };
};

const isMetadataUrl = (clientId: string): boolean =>
  clientId.startsWith("https://") && URL.canParse(clientId) && new URL(clientId).pathname !== "/";

/** The configured authorization server; without one, the server names it. */
const configuredAuthorizationServer = (config: BrowserSignInConfig): OAuthDiscoveryState | undefined => {
  const { issuer, endpoints } = config ?? {};
  if (endpoints === undefined) return issuer === undefined ? undefined : { authorizationServerUrl: issuer };
  const named = issuer ?? new URL(endpoints.authorize).origin;
  return {
    authorizationServerUrl: named,
    authorizationServerMetadata: {
      issuer: named,
      authorization_endpoint: endpoints.authorize,
      token_endpoint: endpoints.token,
      response_types_supported: ["code"],
    },
  };
};

const createClientMetadata = (redirect: string): OAuthClientMetadata => ({
  client_name: "Parley",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** Creates the page to show. Only https URLs are opened, and http on this machine. */
const createSignInPage = (address: URL, { discovery }: StoredSignIn, config: BrowserSignInConfig): SignInPage => {
  const isHere = nonPublicReason(normalizeHost(address)) === "this machine" || normalizeHost(address) === "localhost";
  if (address.protocol !== "https:" && !(address.protocol === "http:" && isHere))
    throw new McpServerError(
      "sign-in",
      `The server names ${address.protocol} as the sign-in page. Only https URLs are opened.`,
    );
  const token = discovery?.authorizationServerMetadata?.token_endpoint;
  const described = discovery?.authorizationServerUrl;
  const issuer = token === undefined ? address.host : new URL(token).host;
  const expected = [address, ...(described === undefined ? [] : [new URL(described)])];
  const isExpected = config?.endpoints !== undefined || expected.every(({ host }) => host === issuer);
  return { url: address.href, authorizationHost: address.host, ...(isExpected ? {} : { tokenHost: issuer }) };
};
