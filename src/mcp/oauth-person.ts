import type { OAuthClientMetadata, OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { bareHost } from "../policy/network.ts";
import { notPublic } from "../policy/network-address.ts";
import type { World } from "../world/world.ts";
import type { SignInConfig } from "./config-oauth.ts";
import { ServerFailure } from "./failure.ts";
import { readSignIn, signInFile, writeSignIn, type SignedIn, type SignInPlace } from "./oauth-store.ts";

/** What a person sees before they sign in: the address to open, and who gets to know what. */
export type SignInPage = {
  readonly url: string;
  /** Who asks for the sign-in. */
  readonly authorizes: string;
  /** Who hands out the tokens, where that is somebody else and nobody configured it. */
  readonly issuesTokens?: string;
};

type PersonConfig = Extract<SignInConfig, { type: "person" }> | undefined;

/** What this program says of itself, and where people are sent. */
export type Introduction = {
  readonly redirect: string;
  readonly state: string;
  readonly show: (page: SignInPage, scope: string | undefined) => Promise<void>;
};

/** Signs in for a person, with what is kept from before and what is configured. */
export const personAuth = async (
  place: SignInPlace & { readonly world: Pick<World, "files" | "clock">; readonly home: string },
  config: PersonConfig,
  { redirect, state, show }: Introduction,
): Promise<OAuthClientProvider> => {
  const { world, home } = place;
  const path = signInFile(home, place);
  let known: SignedIn = await readSignIn(world, path);
  let verifier = "";
  /** Takes over the tokens of another program that renewed them meanwhile: most services accept a refresh token once. */
  const takeNewer = async (): Promise<boolean> => {
    const { tokens } = await readSignIn(world, path);
    if (tokens === undefined || tokens.access_token === known.tokens?.access_token) return false;
    known = { ...known, tokens };
    return true;
  };
  const keep = async (more: Partial<SignedIn>): Promise<void> => {
    known = { ...known, ...more };
    await writeSignIn(world, path, known);
  };
  return {
    ...clientOf(config, () => known, keep),
    redirectUrl: redirect,
    clientMetadata: metadataFor(redirect),
    state: () => state,
    tokens: async () => {
      if (known.tokens !== undefined) await takeNewer();
      return known.tokens;
    },
    saveTokens: (tokens) => keep({ tokens }),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => known.discovery ?? configuredService(config),
    redirectToAuthorization: (address) =>
      show(pageFor(address, known, config), address.searchParams.get("scope") ?? undefined),
    invalidateCredentials: async (scope) => {
      if (scope === "tokens" && known.tokens !== undefined)
        for (let attempt = 0; attempt < renewalChecks.times; attempt += 1) {
          if (await takeNewer()) return;
          await world.clock.sleep(renewalChecks.ms);
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

/** Another program whose renewal made ours fail may not have written its tokens yet. */
const renewalChecks = { times: 10, ms: 50 };

type ClientPart = Pick<OAuthClientProvider, "clientInformation" | "saveClientInformation" | "clientMetadataUrl">;

/** Who this program is there: as registered beforehand, as a page describes it, or as it registers itself. */
const clientOf = (
  config: PersonConfig,
  known: () => SignedIn,
  keep: (more: Partial<SignedIn>) => Promise<void>,
): ClientPart => {
  const { clientId, clientSecret, issuer } = config ?? {};
  const registering: ClientPart = {
    clientInformation: () => known().client,
    saveClientInformation: (client) => keep({ client }),
  };
  if (clientId === undefined) return registering;
  if (isPage(clientId)) return { ...registering, clientMetadataUrl: clientId };
  return {
    clientInformation: () => ({
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
    }),
  };
};

const isPage = (clientId: string): boolean =>
  clientId.startsWith("https://") && URL.canParse(clientId) && new URL(clientId).pathname !== "/";

/** Who signs people in, where that is configured; otherwise the server says. */
const configuredService = (config: PersonConfig): OAuthDiscoveryState | undefined => {
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

const metadataFor = (redirect: string): OAuthClientMetadata => ({
  client_name: "Parley",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** Only an address of the web is ever shown to be opened; in the open, only one on this machine. */
const pageFor = (address: URL, { discovery }: SignedIn, config: PersonConfig): SignInPage => {
  const isHere = notPublic(bareHost(address)) === "this machine" || bareHost(address) === "localhost";
  if (address.protocol !== "https:" && !(address.protocol === "http:" && isHere))
    throw new ServerFailure(
      "sign-in",
      `The server names ${address.protocol} as the place to sign in. It is not opened.`,
    );
  const token = discovery?.authorizationServerMetadata?.token_endpoint;
  const described = discovery?.authorizationServerUrl;
  const issuer = token === undefined ? address.host : new URL(token).host;
  const expected = [address, ...(described === undefined ? [] : [new URL(described)])];
  const isExpected = config?.endpoints !== undefined || expected.every(({ host }) => host === issuer);
  return { url: address.href, authorizes: address.host, ...(isExpected ? {} : { issuesTokens: issuer }) };
};
