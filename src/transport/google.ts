import type { HttpRequest } from "../world/net.ts";
import type { World } from "../world/world.ts";
import { askJson, fetchOver, fieldIn, jsonOf, textIn } from "./credentials-http.ts";
import { AuthProblem, keyIn, type Found } from "./credentials-key.ts";
import type { Lease, Leased } from "./credentials-lease.ts";
import { usesExpressKey, valueOf } from "./endpoint.ts";

/** An access token, and the project its use is charged to where that is another than the one asked for. */
export type GoogleToken = { readonly secret: string; readonly quotaProject?: string };

/** Where Google credentials would come from, without asking the network. */
export const findGoogle = async (world: GoogleWorld): Promise<Found> => {
  const source = await sourceOf(world);
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

/** Adds what proves to Google Cloud who sends a request. */
export const signGoogle = async (
  request: HttpRequest,
  { env }: Pick<World, "env">,
  tokens: Lease<GoogleToken>,
  signal?: AbortSignal,
): Promise<HttpRequest> => {
  const express = usesExpressKey(env) ? keyIn(env, ["GOOGLE_API_KEY"]) : undefined;
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

/** Gets an access token the way Google's own tools do. */
export const fetchGoogleToken = async (world: GoogleWorld): Promise<Leased<GoogleToken>> => {
  const source = await sourceOf(world);
  const quotaProject = valueOf(world.env, "GOOGLE_CLOUD_QUOTA_PROJECT");
  switch (source.type) {
    case "express":
    case "token":
      return {
        value: tokenOf(keyIn(world.env, [tokenVariable])?.secret ?? "", quotaProject),
        until: Number.POSITIVE_INFINITY,
      };
    case "file":
      return exchangeFile(world, source, quotaProject);
    case "machine":
      return askMachine(world, quotaProject);
    case "none":
      throw new AuthProblem("no-key", source.how);
  }
};

type GoogleWorld = Pick<World, "env" | "host" | "files" | "net" | "clock">;

type Source =
  | { readonly type: "express" | "token" | "machine" }
  | { readonly type: "file"; readonly text: string; readonly from: string }
  | { readonly type: "none"; readonly how: string };

const tokenVariable = "GOOGLE_OAUTH_ACCESS_TOKEN";

const sourceOf = async (world: GoogleWorld): Promise<Source> => {
  const { env, files } = world;
  if (usesExpressKey(env) && keyIn(env, ["GOOGLE_API_KEY"]) !== undefined) return { type: "express" };
  if (keyIn(env, [tokenVariable]) !== undefined) return { type: "token" };
  const named = valueOf(env, "GOOGLE_APPLICATION_CREDENTIALS");
  const path = named ?? gcloudFile(world);
  const text = await files.read(path);
  if (text !== undefined)
    return { type: "file", text, from: `application default credentials at ${shown(world, path)}` };
  if (named !== undefined)
    return {
      type: "none",
      how: `GOOGLE_APPLICATION_CREDENTIALS names a file that is not there: ${shown(world, path)}.`,
    };
  if (await isOnGoogleCloud(world)) return { type: "machine" };
  return {
    type: "none",
    how: `Run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS or ${tokenVariable}.`,
  };
};

const gcloudFile = ({ env, host }: Pick<World, "env" | "host">): string => {
  const roaming = host.platform === "win32" ? valueOf(env, "APPDATA") : undefined;
  const folder = valueOf(env, "CLOUDSDK_CONFIG") ?? `${roaming ?? `${host.home}/.config`}/gcloud`;
  return `${folder}/application_default_credentials.json`;
};

const shown = ({ host }: Pick<World, "host">, path: string): string =>
  path.startsWith(`${host.home}/`) ? `~${path.slice(host.home.length)}` : path;

const isOnGoogleCloud = async ({ env, files }: Pick<World, "env" | "files">): Promise<boolean> => {
  const detection = valueOf(env, "METADATA_SERVER_DETECTION");
  if (detection === "none") return false;
  if (detection === "assume-present") return true;
  const hint = ["GCE_METADATA_HOST", "GCE_METADATA_IP", "K_SERVICE", "CLOUD_RUN_JOB", "FUNCTION_NAME", "GAE_SERVICE"];
  if (valueOf(env, ...hint) !== undefined) return true;
  return (await files.read("/sys/class/dmi/id/bios_vendor"))?.trim() === "Google";
};

const kinds = [
  "authorized_user",
  "service_account",
  "external_account",
  "external_account_authorized_user",
  "impersonated_service_account",
];

const exchangeFile = async (
  world: GoogleWorld,
  { text, from }: Extract<Source, { type: "file" }>,
  quotaProject: string | undefined,
): Promise<Leased<GoogleToken>> => {
  const file = jsonOf(text);
  const kind = textIn(file, "type");
  if (kind === undefined || !kinds.includes(kind))
    throw new AuthProblem("bad-key", `The ${from} are none that we know.`);
  const { GoogleAuth } = await import("google-auth-library");
  const auth = new GoogleAuth({
    credentials: file as object,
    scopes: ["https://www.googleapis.com/auth/cloud-platform"],
    clientOptions: { transporterOptions: { fetchImplementation: fetchOver(world) } },
  });
  try {
    const client = await auth.getClient();
    const { token } = await client.getAccessToken();
    if (token === undefined || token === null || token === "")
      throw new AuthProblem("bad-key", `The ${from} give no token.`);
    return {
      value: tokenOf(token, quotaProject ?? textIn(file, "quota_project_id")),
      // The library counts in the machine's time, this world perhaps in another.
      until: world.clock.now() + Math.max(0, (client.credentials.expiry_date ?? 0) - Date.now()),
    };
  } catch (error) {
    throw asProblem(error, from);
  }
};

/** The library's errors hold the whole request, tokens and all: only a known word of theirs is passed on. */
const asProblem = (error: unknown, from: string): unknown => {
  const cause = fieldIn(error, "cause");
  for (const own of [error, cause]) if (own instanceof AuthProblem) return own;
  const refusal = fieldIn(fieldIn(error, "response"), "data");
  const word = textIn(refusal, "error") ?? textIn(fieldIn(refusal, "error"), "status");
  if (word !== undefined && /^[A-Za-z_]{1,40}$/.test(word))
    return new AuthProblem("bad-key", `The ${from} are refused (${word}).`);
  return new AuthProblem("bad-key", `The ${from} give no token.`);
};

/** By its number, which needs no name server and is never sent through a proxy. */
const metadataHost = "169.254.169.254";

const askMachine = async (world: GoogleWorld, quotaProject: string | undefined): Promise<Leased<GoogleToken>> => {
  const host = valueOf(world.env, "GCE_METADATA_HOST", "GCE_METADATA_IP") ?? metadataHost;
  const { status, body } = await askJson(world, {
    method: "GET",
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
  });
  const secret = textIn(body, "access_token");
  const seconds = fieldIn(body, "expires_in");
  if (status !== 200 || secret === undefined || typeof seconds !== "number")
    throw new AuthProblem("bad-key", `This machine has no service account to speak for (${status}).`);
  return { value: tokenOf(secret, quotaProject), until: world.clock.now() + seconds * 1000 };
};

const tokenOf = (secret: string, quotaProject: string | undefined): GoogleToken => ({
  secret,
  ...(quotaProject === undefined ? {} : { quotaProject }),
});
