import {
  createPrivateKeyJwtAuth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { SignInConfig } from "../config/oauth.ts";
import { McpServerError } from "../server-error.ts";

type ClientCredentialsConfig = Extract<SignInConfig, { type: "machine" }>;

/**
 * Signs in with client credentials, without a user. The secret goes to the server's own host or the configured one, and
 * to no other host a server names. Tokens are kept in memory only.
 */
export const createClientCredentialsAuth = (
  server: string,
  url: string,
  config: ClientCredentialsConfig,
): OAuthClientProvider => {
  const { clientId, proof, scopes } = config;
  let tokens: StoredOAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined = configuredAuthorizationServer(config);
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: "Parley",
      redirect_uris: [],
      grant_types: ["client_credentials"],
      ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    },
    clientInformation: () => ({
      client_id: clientId,
      ...(proof.type === "secret" ? { client_secret: proof.secret } : {}),
    }),
    ...(proof.type === "secret"
      ? {}
      : {
          addClientAuthentication: createPrivateKeyJwtAuth({
            issuer: clientId,
            subject: clientId,
            privateKey: proof.pem,
            alg: proof.algorithm,
          }),
        }),
    tokens: () => tokens,
    saveTokens: (received) => void (tokens = received),
    discoveryState: () => discovery,
    saveDiscoveryState: (found) => {
      requireTrustedAuthorizationServer(server, url, config, found);
      discovery = found;
    },
    prepareTokenRequest: (options) => {
      const scope = scopes?.join(" ") ?? options;
      return new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
    },
    redirectToAuthorization: () => rejectBrowserFlow(server),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => rejectBrowserFlow(server),
  };
};

/** The configured authorization server. */
const configuredAuthorizationServer = ({ issuer, token }: ClientCredentialsConfig): OAuthDiscoveryState | undefined => {
  if (token === undefined) return issuer === undefined ? undefined : { authorizationServerUrl: issuer };
  const named = issuer ?? new URL(token).origin;
  return {
    authorizationServerUrl: named,
    authorizationServerMetadata: {
      issuer: named,
      authorization_endpoint: token,
      token_endpoint: token,
      response_types_supported: [],
    },
  };
};

/** Without a user who could be asked, the secret goes to no other host. */
const requireTrustedAuthorizationServer = (
  server: string,
  url: string,
  { issuer, token }: ClientCredentialsConfig,
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthDiscoveryState,
): void => {
  if (token !== undefined) return;
  const { host, origin } = new URL(authorizationServerUrl);
  if (issuer === undefined && host !== new URL(url).host)
    throw new McpServerError(
      "sign-in",
      `${server} requires a sign-in at ${host}. If that is right, set oauth.issuer to ${origin} in its settings.`,
    );
  const gives = metadata === undefined ? host : new URL(metadata.token_endpoint).host;
  if (gives !== host)
    throw new McpServerError(
      "sign-in",
      `${server} requires the client secret to be sent to ${gives}. If that is right, set oauth.tokenUrl in its settings.`,
    );
};

const rejectBrowserFlow = (server: string): never => {
  throw new McpServerError(
    "sign-in",
    `${server} requires a sign-in in the browser, but is configured for client_credentials.`,
  );
};
