import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isObject } from "../../conversation/json.ts";
import type { World } from "../../world/world.ts";
import { digestOf } from "../config/read-servers.ts";
import type { SignInConfig } from "../config/oauth.ts";

/** The stored result of a sign-in. */
export type StoredSignIn = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
  /** The scope for the next sign-in, where a server has asked for more. */
  readonly scope?: string;
};

/** The target of a sign-in: a URL, and its configured authorization server. */
export type SignInTarget = { readonly url: string; readonly signIn?: SignInConfig | undefined };

/**
 * The file with the tokens of a server: one for each URL, so that none is ever sent to another, and for each configured
 * service that refreshes them.
 */
export const signInPath = (home: string, { url, signIn }: SignInTarget): string => {
  const service = signIn?.type === "person" ? [signIn.clientId, signIn.issuer, signIn.endpoints] : [];
  const isUsual = service.every((each) => each === undefined);
  return `${home}/auth/mcp-${digestOf(isUsual ? url : [url, ...service]).slice(0, 32)}.json`;
};

/** Reads a stored sign-in. An unreadable file counts as none. */
export const readSignIn = async ({ files }: Pick<World, "files">, path: string): Promise<StoredSignIn> => {
  try {
    const stored: unknown = JSON.parse((await files.read(path)) ?? "");
    return isObject(stored) && stored["version"] === 1 ? stored : {};
  } catch {
    return {};
  }
};

/** Stores a sign-in in a file that only its owner can read. */
export const writeSignIn = ({ files }: Pick<World, "files">, path: string, signedIn: StoredSignIn): Promise<void> =>
  files.writePrivate(path, `${JSON.stringify({ version: 1, ...signedIn }, undefined, 2)}\n`);

/** Deletes a stored sign-in. */
export const deleteSignIn = ({ files }: Pick<World, "files">, home: string, target: SignInTarget): Promise<void> =>
  files.remove(signInPath(home, target));
