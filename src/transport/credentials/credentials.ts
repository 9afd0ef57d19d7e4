import type { Auth, Provider } from "../../providers/define.ts";
import type { HttpRequest } from "../../world/net.ts";
import type { Environment, World } from "../../world/world.ts";
import { fetchAwsKeys, findAws, signAws, type AwsKeys } from "./aws.ts";
import { dropCodeAssistToken, fetchCodeAssistToken, findCodeAssist } from "./code-assist-sign-in.ts";
import { AuthError, readKey, type CredentialStatus, type EnvironmentKey } from "./api-key.ts";
import { TokenCache } from "./token-cache.ts";
import { sha256 } from "../../sha256.ts";
import { isProviderAddress, googleProject, envValue } from "../endpoint.ts";
import { ProviderError, type Failure } from "../failure.ts";
import { fetchGoogleToken, findGoogle, signGoogle, type GoogleToken } from "./google.ts";

export type { CredentialStatus } from "./api-key.ts";

/** Credentials of all providers, cached while the program runs. */
export type Credentials = {
  readonly world: World;
  readonly aws: TokenCache<AwsKeys>;
  readonly google: TokenCache<GoogleToken>;
  readonly codeAssist: TokenCache<string>;
  /** URLs already checked to be a provider's own; the environment does not change. */
  readonly verifiedAddresses: Set<string>;
};

/** Opens the credentials. Nothing is read, loaded or requested before it is needed. */
export const openCredentials = (world: World): Credentials => ({
  world,
  aws: new TokenCache(world.clock, () => fetchAwsKeys(world)),
  google: new TokenCache(world.clock, () => fetchGoogleToken(world)),
  codeAssist: new TokenCache(world.clock, () => fetchCodeAssistToken(world)),
  verifiedAddresses: new Set(),
});

/** Finds out whether requests to a provider can be signed, and with what. Reads variables and files, without network requests. */
export const findCredentials = async (provider: Provider, world: World): Promise<CredentialStatus> => {
  try {
    return await findForAuth(provider.auth, world);
  } catch (error) {
    if (error instanceof AuthError) return { found: false, how: error.message };
    throw error;
  }
};

/**
 * Adds authentication to a request. The request must be complete: later changes are not signed. Throws a
 * `ProviderError`; and a plain error if the URL is not the provider's own, so that its key is never sent elsewhere.
 */
export const authorize = async (
  request: HttpRequest,
  provider: Provider,
  credentials: Credentials,
  signal?: AbortSignal,
): Promise<HttpRequest> => {
  const { verifiedAddresses, world } = credentials;
  const { env } = world;
  const address = `${provider.id} ${request.url}`;
  if (!verifiedAddresses.has(address) && !isProviderAddress(provider, request.url, env))
    throw new Error(`A key for ${provider.label} was about to leave for another host.`);
  verifiedAddresses.add(address);
  try {
    return await signRequest(withHeaders(request, provider, env), provider.auth, credentials, signal);
  } catch (error) {
    throw toProviderError(error, provider);
  }
};

/** Drops a refused token. True if a new one can be fetched. */
export const renewCredentials = async (
  { auth }: Provider,
  { world, aws, google, codeAssist }: Credentials,
): Promise<boolean> => {
  switch (auth.type) {
    case "aws":
      aws.drop();
      return true;
    case "google":
      google.drop();
      return true;
    case "code-assist":
      google.drop();
      codeAssist.drop();
      await dropCodeAssistToken(world);
      return true;
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key":
    case "none":
      return false;
  }
};

/** Returns a hash that distinguishes accounts of a provider and reveals no key; undefined where the account is not known. */
export const accountDigest = ({ id, auth }: Provider, env: Environment): string | undefined => {
  const account = identityIn(auth, env);
  return account === undefined ? undefined : sha256(`${id}\0${account}`).slice(0, 16);
};

/** Converts an `AuthError` to a `ProviderError`; other errors are returned unchanged. */
export const toProviderError = (error: unknown, { id, label }: Provider): unknown =>
  error instanceof AuthError ? new ProviderError(failureOf(error, { provider: id, label })) : error;

const failureOf = (error: AuthError, who: { readonly provider: string; readonly label: string }): Failure => {
  const { kind, message, host } = error;
  switch (kind) {
    case "no-key":
      return { ...who, kind, how: message };
    case "bad-key":
      return { ...who, kind, detail: message };
    case "network":
      return { ...who, kind, host, detail: message };
  }
};

const findForAuth = async (auth: Auth, world: World): Promise<CredentialStatus> => {
  switch (auth.type) {
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key": {
      const { key, token } = keyForAuth(auth, world.env);
      if (key !== undefined) return { found: true, from: key.name, kind: "key" };
      if (token !== undefined) return { found: true, from: token.name, kind: "token" };
      if (auth.optional === true) return { found: true, from: "no key set (optional)", kind: "none" };
      return { found: false, how: `Set ${[...auth.env, ...(auth.tokens ?? [])].join(" or ")}.` };
    }
    case "aws":
      return findAws(world);
    case "google":
      return findGoogle(world);
    case "code-assist":
      return findForCodeAssist(world);
    case "none":
      return { found: true, from: "no key needed", kind: "none" };
  }
};

/** Finds our own sign-in, or other Google credentials of this machine, except a plain API key. */
const findForCodeAssist = async (world: World): Promise<CredentialStatus> => {
  const signIn = await findCodeAssist(world);
  if (signIn.found) return signIn;
  const google = await findGoogle(world);
  return google.found && google.kind !== "key" ? google : signIn;
};

const signRequest = async (
  request: HttpRequest,
  auth: Auth,
  { world, aws, google, codeAssist }: Credentials,
  signal: AbortSignal | undefined,
): Promise<HttpRequest> => {
  switch (auth.type) {
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key":
      return withKey(request, auth, world.env);
    case "aws":
      return signAws(request, world, aws, signal);
    case "google":
      return signGoogle(request, world, google, signal);
    case "code-assist": {
      const found = await findForCodeAssist(world);
      if (found.found && found.kind !== "sign-in") return signGoogle(request, world, google, signal);
      return withHeader(request, "authorization", `Bearer ${await codeAssist.get(signal)}`);
    }
    case "none":
      return request;
  }
};

type KeyAuth = Extract<Auth, { readonly env: readonly string[] }>;

const keyForAuth = (
  auth: KeyAuth,
  env: Environment,
): { readonly key?: EnvironmentKey | undefined; readonly token?: EnvironmentKey | undefined } => {
  const key = readKey(env, auth.env);
  return key === undefined ? { token: readKey(env, auth.tokens ?? []) } : { key };
};

const withKey = (request: HttpRequest, auth: KeyAuth, env: Environment): HttpRequest => {
  const { key, token } = keyForAuth(auth, env);
  if (token !== undefined) return withHeader(request, "authorization", `Bearer ${token.secret}`);
  if (key !== undefined)
    return auth.type === "bearer"
      ? withHeader(request, "authorization", `Bearer ${key.secret}`)
      : withHeader(request, auth.type, key.secret);
  if (auth.optional === true) return request;
  throw new AuthError("no-key", `Set ${[...auth.env, ...(auth.tokens ?? [])].join(" or ")}.`);
};

const withHeaders = (request: HttpRequest, { endpoint }: Provider, env: Environment): HttpRequest =>
  (endpoint.headers ?? []).reduce(
    (made, { name, value, env: variable }) => withHeader(made, name, readKey(env, [variable])?.secret ?? value),
    request,
  );

const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** Returns what identifies the account. Temporary keys change hourly, so a profile or project is used where there is one. */
const identityIn = (auth: Auth, env: Environment): string | undefined => {
  switch (auth.type) {
    case "aws":
      return envValue(env, "AWS_ACCOUNT_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_ACCESS_KEY_ID");
    case "google":
      return googleProject(env) ?? envValue(env, "GOOGLE_API_KEY");
    case "code-assist":
      return googleProject(env);
    case "none":
      return undefined;
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key":
      return envValue(env, ...auth.env, ...(auth.tokens ?? []));
  }
};
