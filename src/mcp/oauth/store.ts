import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isObject } from "../../conversation/json.ts";
import type { World } from "../../world/world.ts";
import { digestOf } from "../config/read-servers.ts";
import type { SignInConfig } from "../config/oauth.ts";

/** What a sign-in at a server leaves behind. */
export type StoredSignIn = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
  /** What the next sign-in should ask for, where a server has said that it wants more. */
  readonly scope?: string;
};

/** What a sign-in is for: an address, and who is configured to sign people in there. */
export type SignInTarget = { readonly url: string; readonly signIn?: SignInConfig | undefined };

/**
 * Where the tokens for a server are kept: one file for each address, so that none is ever sent to another, and for each
 * service that is configured to renew them.
 */
export const signInPath = (home: string, { url, signIn }: SignInTarget): string => {
  const service = signIn?.type === "person" ? [signIn.clientId, signIn.issuer, signIn.endpoints] : [];
  const isUsual = service.every((each) => each === undefined);
  return `${home}/auth/mcp-${digestOf(isUsual ? url : [url, ...service]).slice(0, 32)}.json`;
};

/** What is kept of a sign-in. A file that cannot be read as such counts as none. */
export const readSignIn = async ({ files }: Pick<World, "files">, path: string): Promise<StoredSignIn> => {
  try {
    const kept: unknown = JSON.parse((await files.read(path)) ?? "");
    return isObject(kept) && kept["version"] === 1 ? kept : {};
  } catch {
    return {};
  }
};

/** Keeps a sign-in where only its owner can read it. */
export const writeSignIn = ({ files }: Pick<World, "files">, path: string, signedIn: StoredSignIn): Promise<void> =>
  files.writePrivate(path, `${JSON.stringify({ version: 1, ...signedIn }, undefined, 2)}\n`);

/** Forgets a sign-in. */
export const deleteSignIn = ({ files }: Pick<World, "files">, home: string, place: SignInTarget): Promise<void> =>
  files.remove(signInPath(home, place));
