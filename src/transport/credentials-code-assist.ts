import type { World } from "../world/world.ts";
import { AuthProblem, keyIn, type Found } from "./credentials-key.ts";
import type { Leased } from "./credentials-lease.ts";
import { valueOf } from "./endpoint.ts";
import { refreshTokens, revokeToken, signIn, type OAuthClient, type OAuthEndpoints, type SignIn } from "./oauth.ts";
import { readTokens, removeTokens, tokenFile, writeTokens } from "./token-store.ts";

/** Lets a person sign in to Gemini Code Assist with their Google account, and keeps the tokens. Returns where. */
export const signInToCodeAssist = async (world: World, how: Pick<SignIn, "show" | "signal">): Promise<string> => {
  const client = clientIn(world);
  const tokens = await signIn(world, { ...how, client, endpoints: endpointsIn(world), scopes });
  const { refresh, access, expires } = tokens;
  if (refresh === undefined) throw new AuthProblem("bad-key", "The sign-in gave no lasting token.");
  await writeTokens(world, store, { client: client.id, refresh, access, expires });
  return tokenFile(world, store);
};

/** Makes the tokens worthless and forgets them. They are forgotten even when the service cannot be reached. */
export const signOutOfCodeAssist = async (world: World): Promise<void> => {
  const stored = await readTokens(world, store);
  await removeTokens(world, store);
  if (stored !== undefined) await revokeToken(world, endpointsIn(world), stored.refresh).catch(() => false);
};

/** Whether somebody is signed in, without asking the network. */
export const findCodeAssist = async (world: Pick<World, "env" | "host" | "files">): Promise<Found> => {
  const stored = await readTokens(world, store);
  if (stored === undefined) return { found: false, how: clientMissing(world) ?? "Sign in with parley login." };
  const missing = clientMissing(world);
  if (missing !== undefined) return { found: false, how: missing };
  if (stored.client !== clientIn(world).id) return { found: false, how: otherClient };
  return { found: true, from: `signed in with Google (tokens in ${tokenFile(world, store)})`, kind: "sign-in" };
};

/** The access token of the sign-in, a new one when the last has expired. */
export const fetchCodeAssistToken = async (world: World): Promise<Leased<string>> => {
  const found = await findCodeAssist(world);
  const stored = await readTokens(world, store);
  if (!found.found || stored === undefined)
    throw new AuthProblem("no-key", found.found ? "Sign in with parley login." : found.how);
  // Another process may have renewed it a moment ago.
  if (stored.access !== undefined && stored.expires !== undefined && stored.expires - fresh > world.clock.now())
    return { value: stored.access, until: stored.expires };
  const { access, expires, refresh } = await refreshTokens(world, endpointsIn(world), clientIn(world), stored.refresh);
  await writeTokens(world, store, { client: stored.client, refresh: refresh ?? stored.refresh, access, expires });
  return { value: access, until: expires };
};

/** Forgets the access token alone, so that the next one is new. */
export const dropCodeAssistToken = async (world: World): Promise<void> => {
  const stored = await readTokens(world, store);
  if (stored !== undefined) await writeTokens(world, store, { client: stored.client, refresh: stored.refresh });
};

const store = "code-assist";
const fresh = 5 * 60_000;
const scopes = [
  "https://www.googleapis.com/auth/cloud-platform",
  "https://www.googleapis.com/auth/userinfo.email",
  "https://www.googleapis.com/auth/userinfo.profile",
];
const clientVariable = "PARLEY_GOOGLE_OAUTH_CLIENT_ID";
const baseVariable = "PARLEY_GOOGLE_OAUTH_BASE_URL";
const otherClient = `You signed in with another ${clientVariable}. Sign in again.`;

const clientMissing = ({ env }: Pick<World, "env">): string | undefined =>
  valueOf(env, clientVariable) === undefined
    ? `Set ${clientVariable} and PARLEY_GOOGLE_OAUTH_CLIENT_SECRET to an OAuth client of your own (type: desktop app), then sign in.`
    : undefined;

const clientIn = (world: Pick<World, "env">): OAuthClient => {
  const id = keyIn(world.env, [clientVariable]);
  const secret = keyIn(world.env, ["PARLEY_GOOGLE_OAUTH_CLIENT_SECRET"]);
  if (id === undefined) throw new AuthProblem("no-key", clientMissing(world) ?? "");
  return { id: id.secret, ...(secret === undefined ? {} : { secret: secret.secret }) };
};

const endpointsIn = ({ env }: Pick<World, "env">): OAuthEndpoints => {
  const moved = valueOf(env, baseVariable)?.replace(/\/+$/, "");
  if (moved !== undefined && !/^https?:$/.test(URL.canParse(moved) ? new URL(moved).protocol : ""))
    throw new AuthProblem("no-key", `${baseVariable} is no web address. It should begin with https:// or http://.`);
  return {
    authorize: `${moved ?? "https://accounts.google.com"}/o/oauth2/v2/auth`,
    token: `${moved ?? "https://oauth2.googleapis.com"}/token`,
    revoke: `${moved ?? "https://oauth2.googleapis.com"}/revoke`,
  };
};
