import type { OAuthFields } from "./fields.ts";

/** How to sign in to a server, where configured. Without it, the server's own metadata decides. */
export type SignInConfig =
  | { readonly type: "never" }
  | {
      readonly type: "person";
      /** The registered client id, or the https URL of a client metadata document. */
      readonly clientId?: string;
      readonly clientSecret?: string;
      readonly scopes?: readonly string[];
      /** The redirect URI. */
      readonly redirect?: string;
      readonly issuer?: string;
      readonly endpoints?: { readonly authorize: string; readonly token: string };
    }
  | {
      readonly type: "machine";
      readonly clientId: string;
      readonly proof: ClientProof;
      readonly scopes?: readonly string[];
      readonly issuer?: string;
      readonly token?: string;
    };

/** The proof of a client's identity. */
type ClientProof =
  | { readonly type: "secret"; readonly secret: string }
  | { readonly type: "private-key"; readonly pem: string; readonly algorithm: string };

/** Converts the fields, or says why they are inconsistent. */
export const readSignInConfig = (fields: OAuthFields): SignInConfig | { readonly problem: string } => {
  const { enabled = true, redirectUri, authorizationUrl, tokenUrl } = fields;
  if (!enabled) return { type: "never" };
  if (fields.grantType === "client_credentials") return readClientCredentials(fields);
  if (redirectUri !== undefined && !isLoopbackUrl(redirectUri))
    return { problem: "redirectUri must be an http URL of this machine, with a port." };
  if ((authorizationUrl === undefined) !== (tokenUrl === undefined))
    return { problem: "authorizationUrl and tokenUrl must be set together." };
  const { clientId, clientSecret, scopes, issuer } = fields;
  return {
    type: "person",
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(redirectUri === undefined ? {} : { redirect: redirectUri }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(authorizationUrl === undefined || tokenUrl === undefined
      ? {}
      : { endpoints: { authorize: authorizationUrl, token: tokenUrl } }),
  };
};

const readClientCredentials = (fields: OAuthFields): SignInConfig | { readonly problem: string } => {
  const { clientId, clientSecret, privateKey, algorithm = "ES256", scopes, issuer, tokenUrl } = fields;
  const proof: ClientProof | undefined =
    privateKey !== undefined
      ? { type: "private-key", pem: privateKey, algorithm }
      : clientSecret !== undefined
        ? { type: "secret", secret: clientSecret }
        : undefined;
  if (clientId === undefined || proof === undefined)
    return { problem: "client_credentials needs clientId, and clientSecret or privateKey." };
  return {
    type: "machine",
    clientId,
    proof,
    ...(scopes === undefined ? {} : { scopes }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(tokenUrl === undefined ? {} : { token: tokenUrl }),
  };
};

const isLoopbackUrl = (address: string): boolean => {
  const { protocol, hostname, port } = new URL(address);
  return protocol === "http:" && port !== "" && ["127.0.0.1", "localhost"].includes(hostname);
};

/** The secrets in it, for redaction. */
export const signInSecrets = (config: SignInConfig | undefined): readonly string[] => {
  switch (config?.type) {
    case "person":
      return config.clientSecret === undefined ? [] : [config.clientSecret];
    case "machine":
      return [config.proof.type === "secret" ? config.proof.secret : config.proof.pem];
    case "never":
    case undefined:
      return [];
  }
};
