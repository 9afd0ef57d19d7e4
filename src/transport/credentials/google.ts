import type { HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { requestJson, createFetch, getField, parseJsonOrUndefined, getText } from "./http.ts";
import { AuthError, readKey, type CredentialStatus } from "./api-key.ts";
import type { TokenCache, ExpiringValue } from "./token-cache.ts";
import { usesExpressKey, envValue } from "../endpoint.ts";

/** An access token, and the project to charge if it differs from the requested one. */
export type GoogleToken = { readonly secret: string; readonly quotaProject?: string };

/** Finds where Google credentials would come from, without network requests. */
export const findGoogle = async (world: GoogleWorld): Promise<CredentialStatus> => {
  const source = await findGoogleSource(world);
  switch (source.type) {
    case "express":
      return { found: true, from: "GOOGLE_API_KEY", kind: "key" };
    case "token":
      return { found: true, from: tokenVariable, kind: "token" };
    case "file":
      return { found: true, from: source.from, kind: "google" };
    case "machine":
      return { found: true, from: "the service account of this machine", kind: "google" };
    case "none":
      return { found: false, how: source.how };
  }
};

/** Adds Google Cloud authentication to a request. */
export const signGoogle = async (
  request: HttpRequest,
  { env }: Pick<World, "env">,
  tokens: TokenCache<GoogleToken>,
  signal?: AbortSignal,
): Promise<HttpRequest> => {
  const express = usesExpressKey(env) ? readKey(env, ["GOOGLE_API_KEY"]) : undefined;
  if (express !== undefined) return { ...request, headers: { ...request.headers, "x-goog-api-key": express.secret } };
  const { secret, quotaProject } = await tokens.get(signal);
  return {
    ...request,
    headers: {
      ...request.headers,
      authorization: `Bearer ${secret}`,
      ...(quotaProject === undefined ? {} : { "x-goog-user-project": quotaProject }),
    },
  };
};

/** Fetches an access token as Google's own tools do (application default credentials). */
export const fetchGoogleToken = async (world: GoogleWorld): Promise<ExpiringValue<GoogleToken>> => {
  const source = await findGoogleSource(world);
  const quotaProject = envValue(world.env, "GOOGLE_CLOUD_QUOTA_PROJECT");
  switch (source.type) {
    case "express":
    case "token":
      return {
        value: makeToken(readKey(world.env, [tokenVariable])?.secret ?? "", quotaProject),
        until: Number.POSITIVE_INFINITY,
      };
    case "file":
      return tokenFromFile(world, source, quotaProject);
    case "machine":
      return tokenFromMetadata(world, quotaProject);
    case "none":
      throw new AuthError("no-key", source.how);
  }
};

type GoogleWorld = Pick<World, "env" | "host" | "files" | "net" | "clock">;

type GoogleSource =
  | { readonly type: "express" | "token" | "machine" }
  | { readonly type: "file"; readonly text: string; readonly from: string }
  | { readonly type: "none"; readonly how: string };

const tokenVariable = "GOOGLE_OAUTH_ACCESS_TOKEN";

const findGoogleSource = async (world: GoogleWorld): Promise<GoogleSource> => {
  const { env, files } = world;
  if (usesExpressKey(env) && readKey(env, ["GOOGLE_API_KEY"]) !== undefined) return { type: "express" };
  if (readKey(env, [tokenVariable]) !== undefined) return { type: "token" };
  const named = envValue(env, "GOOGLE_APPLICATION_CREDENTIALS");
  const path = named ?? gcloudFile(world);
  const text = await files.read(path);
  if (text !== undefined)
    return { type: "file", text, from: `application default credentials at ${shortPath(world, path)}` };
  if (named !== undefined)
    return {
      type: "none",
      how: `GOOGLE_APPLICATION_CREDENTIALS names a file that is not there: ${shortPath(world, path)}.`,
    };
  if (await isOnGoogleCloud(world)) return { type: "machine" };
  return {
    type: "none",
    how: `Run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS or ${tokenVariable}.`,
  };
};

const gcloudFile = ({ env, host }: Pick<World, "env" | "host">): string => {
  const roaming = host.platform === "win32" ? envValue(env, "APPDATA") : undefined;
  const folder = envValue(env, "CLOUDSDK_CONFIG") ?? `${roaming ?? `${host.home}/.config`}/gcloud`;
  return `${folder}/application_default_credentials.json`;
};

const shortPath = ({ host }: Pick<World, "host">, path: string): string =>
  path.startsWith(`${host.home}/`) ? `~${path.slice(host.home.length)}` : path;

const isOnGoogleCloud = async ({ env, files }: Pick<World, "env" | "files">): Promise<boolean> => {
  const detection = envValue(env, "METADATA_SERVER_DETECTION");
  if (detection === "none") return false;
  if (detection === "assume-present") return true;
  const hint = ["GCE_METADATA_HOST", "GCE_METADATA_IP", "K_SERVICE", "CLOUD_RUN_JOB", "FUNCTION_NAME", "GAE_SERVICE"];
  if (envValue(env, ...hint) !== undefined) return true;
  return (await files.read("/sys/class/dmi/id/bios_vendor"))?.trim() === "Google";
};

const kinds = [
  "authorized_user",
  "service_account",
  "external_account",
  "external_account_authorized_user",
  "impersonated_service_account",
];

const tokenFromFile = async (
  world: GoogleWorld,
  { text, from }: Extract<GoogleSource, { type: "file" }>,
  quotaProject: string | undefined,
): Promise<ExpiringValue<GoogleToken>> => {
  const file = parseJsonOrUndefined(text);
  const kind = getText(file, "type");
  if (kind === undefined || !kinds.includes(kind)) throw new AuthError("bad-key", `The ${from} are none that we know.`);
  const { GoogleAuth } = await import("google-auth-library");
  const auth = new GoogleAuth({
    credentials: file as object,
    scopes: ["https://www.googleapis.com/auth/cloud-platform"],
    clientOptions: { transporterOptions: { fetchImplementation: createFetch(world) } },
  });
  try {
    const client = await auth.getClient();
    const { token } = await client.getAccessToken();
    if (token === undefined || token === null || token === "")
      throw new AuthError("bad-key", `The ${from} give no token.`);
    return {
      value: makeToken(token, quotaProject ?? getText(file, "quota_project_id")),
      // The library uses the machine's clock; this world may have another one.
      until: world.clock.now() + Math.max(0, (client.credentials.expiry_date ?? 0) - Date.now()),
    };
  } catch (error) {
    throw toAuthError(error, from);
  }
};

/** Converts an error of the library. Its errors contain the whole request with tokens, so only a known error code is used. */
const toAuthError = (error: unknown, from: string): unknown => {
  const cause = getField(error, "cause");
  for (const own of [error, cause]) if (own instanceof AuthError) return own;
  const refusal = getField(getField(error, "response"), "data");
  const code = getText(refusal, "error") ?? getText(getField(refusal, "error"), "status");
  if (code !== undefined && /^[A-Za-z_]{1,40}$/.test(code))
    return new AuthError("bad-key", `The ${from} are refused (${code}).`);
  return new AuthError("bad-key", `The ${from} give no token.`);
};

/** The metadata server by IP address, which needs no DNS and never goes through a proxy. */
const metadataHost = "169.254.169.254";

const tokenFromMetadata = async (
  world: GoogleWorld,
  quotaProject: string | undefined,
): Promise<ExpiringValue<GoogleToken>> => {
  const host = envValue(world.env, "GCE_METADATA_HOST", "GCE_METADATA_IP") ?? metadataHost;
  const { status, body } = await requestJson(world, {
    method: "GET",
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
  });
  const secret = getText(body, "access_token");
  const seconds = getField(body, "expires_in");
  if (status !== 200 || secret === undefined || typeof seconds !== "number")
    throw new AuthError("bad-key", `This machine has no service account to speak for (${status}).`);
  return { value: makeToken(secret, quotaProject), until: world.clock.now() + seconds * 1000 };
};

const makeToken = (secret: string, quotaProject: string | undefined): GoogleToken => ({
  secret,
  ...(quotaProject === undefined ? {} : { quotaProject }),
});
