import {
  createPrivateKeyJwtAuth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { SignInConfig } from "./config-oauth.ts";
import { ServerFailure } from "./failure.ts";

type MachineConfig = Extract<SignInConfig, { type: "machine" }>;

/**
 * Signs a machine in, with nobody there. Its secret goes to the server's own host or to whom the configuration names, and to
 * nobody else a server may point at. Tokens are kept for as long as the program runs.
 */
export const machineAuth = (server: string, url: string, config: MachineConfig): OAuthClientProvider => {
  const { clientId, proof, scopes } = config;
  let tokens: StoredOAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined = configuredService(config);
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
      refuseStrangers(server, url, config, found);
      discovery = found;
    },
    prepareTokenRequest: (asked) => {
      const scope = scopes?.join(" ") ?? asked;
      return new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
    },
    redirectToAuthorization: () => nobody(server),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => nobody(server),
  };
};

/** Who hands out tokens, where that is configured. */
const configuredService = ({ issuer, token }: MachineConfig): OAuthDiscoveryState | undefined => {
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

/** Nobody is there to be asked whether a stranger may have the secret. */
const refuseStrangers = (
  server: string,
  url: string,
  { issuer, token }: MachineConfig,
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthDiscoveryState,
): void => {
  if (token !== undefined) return;
  const { host, origin } = new URL(authorizationServerUrl);
  if (issuer === undefined && host !== new URL(url).host)
    throw new ServerFailure(
      "sign-in",
      `${server} wants this machine to sign in at ${host}. If that is right, set oauth.issuer to ${origin} in its settings.`,
    );
  const gives = metadata === undefined ? host : new URL(metadata.token_endpoint).host;
  if (gives !== host)
    throw new ServerFailure(
      "sign-in",
      `${server} wants this machine to show its secret at ${gives}. If that is right, set oauth.tokenUrl in its settings.`,
    );
};

const nobody = (server: string): never => {
  throw new ServerFailure("sign-in", `${server} wants a person to sign in, and is configured for a machine.`);
};
