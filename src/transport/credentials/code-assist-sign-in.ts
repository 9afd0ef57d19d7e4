import type { World } from "../../world/world.ts";
import { AuthError, readKey, type CredentialStatus } from "./api-key.ts";
import type { ExpiringValue } from "./token-cache.ts";
import { envValue } from "../endpoint.ts";
import {
  refreshTokens,
  revokeToken,
  signIn,
  type OAuthClient,
  type OAuthEndpoints,
  type OAuthSignInOptions,
} from "./oauth.ts";
import { readTokens, removeTokens, tokenFile, writeTokens, type TokenWorld } from "./token-store.ts";

/** Signs a user in to Gemini Code Assist with a Google account and stores the tokens. Returns the path of their file. */
export const signInToCodeAssist = async (
  world: World,
  how: Pick<OAuthSignInOptions, "show" | "signal">,
): Promise<string> => {
  const client = clientIn(world);
  const tokens = await signIn(world, { ...how, client, endpoints: endpointsIn(world), scopes });
  const { refresh, access, expires } = tokens;
  if (refresh === undefined) throw new AuthError("bad-key", "The sign-in gave no lasting token.");
  await writeTokens(world, storeName, { client: client.id, refresh, access, expires });
  return tokenFile(world, storeName);
};

/** Signs out: revokes and deletes the tokens. They are deleted even if the service cannot be reached. */
export const signOutOfCodeAssist = async (world: World): Promise<void> => {
  const stored = await readTokens(world, storeName);
  await removeTokens(world, storeName);
  if (stored !== undefined) await revokeToken(world, endpointsIn(world), stored.refresh).catch(() => false);
};

/** Finds out whether a user is signed in, without network requests. */
export const findCodeAssist = async (world: TokenWorld): Promise<CredentialStatus> => {
  const stored = await readTokens(world, storeName);
  if (stored === undefined) return { found: false, how: clientMissing(world) ?? "Sign in with parley login." };
  const missing = clientMissing(world);
  if (missing !== undefined) return { found: false, how: missing };
  if (stored.client !== clientIn(world).id) return { found: false, how: otherClient };
  return {
    found: true,
    from: `signed in with Google (tokens in ${await tokenFile(world, storeName)})`,
    kind: "sign-in",
  };
};

/** Returns the access token of the sign-in; refreshes it when it has expired. */
export const fetchCodeAssistToken = async (world: World): Promise<ExpiringValue<string>> => {
  const found = await findCodeAssist(world);
  const stored = await readTokens(world, storeName);
  if (!found.found || stored === undefined)
    throw new AuthError("no-key", found.found ? "Sign in with parley login." : found.how);
  // Another process may have refreshed it already.
  if (stored.access !== undefined && stored.expires !== undefined && stored.expires - renewalMargin > world.clock.now())
    return { value: stored.access, until: stored.expires };
  const { access, expires, refresh } = await refreshTokens(world, endpointsIn(world), clientIn(world), stored.refresh);
  await writeTokens(world, storeName, { client: stored.client, refresh: refresh ?? stored.refresh, access, expires });
  return { value: access, until: expires };
};

/** Deletes only the access token, so that the next request refreshes it. */
export const dropCodeAssistToken = async (world: World): Promise<void> => {
  const stored = await readTokens(world, storeName);
  if (stored !== undefined) await writeTokens(world, storeName, { client: stored.client, refresh: stored.refresh });
};

const storeName = "code-assist";
const renewalMargin = 5 * 60_000;
const scopes = [
  "https://www.googleapis.com/auth/cloud-platform",
  "https://www.googleapis.com/auth/userinfo.email",
  "https://www.googleapis.com/auth/userinfo.profile",
];
const clientVariable = "PARLEY_GOOGLE_OAUTH_CLIENT_ID";
const baseVariable = "PARLEY_GOOGLE_OAUTH_BASE_URL";
const otherClient = `You signed in with another ${clientVariable}. Sign in again.`;

const clientMissing = ({ env }: Pick<World, "env">): string | undefined =>
  envValue(env, clientVariable) === undefined
    ? `Set ${clientVariable} and PARLEY_GOOGLE_OAUTH_CLIENT_SECRET to an OAuth client of your own (type: desktop app), then sign in.`
    : undefined;

const clientIn = (world: Pick<World, "env">): OAuthClient => {
  const id = readKey(world.env, [clientVariable]);
  const secret = readKey(world.env, ["PARLEY_GOOGLE_OAUTH_CLIENT_SECRET"]);
  if (id === undefined) throw new AuthError("no-key", clientMissing(world) ?? "");
  return { id: id.secret, ...(secret === undefined ? {} : { secret: secret.secret }) };
};

const endpointsIn = ({ env }: Pick<World, "env">): OAuthEndpoints => {
  const moved = envValue(env, baseVariable)?.replace(/\/+$/, "");
  if (moved !== undefined && !/^https?:$/.test(URL.canParse(moved) ? new URL(moved).protocol : ""))
    throw new AuthError("no-key", `${baseVariable} is no web address. It should begin with https:// or http://.`);
  return {
    authorize: `${moved ?? "https://accounts.google.com"}/o/oauth2/v2/auth`,
    token: `${moved ?? "https://oauth2.googleapis.com"}/token`,
    revoke: `${moved ?? "https://oauth2.googleapis.com"}/revoke`,
  };
};
