import { findHomeFolders } from "../../world/home-folders.ts";
import type { World } from "../../world/world.ts";
import { getField, parseJsonOrUndefined, getText } from "./http.ts";

/** Stored OAuth tokens. `client` is the id of the OAuth client they were issued to. */
export type StoredTokens = {
  readonly client: string;
  readonly refresh: string;
  readonly access?: string;
  /** When `access` expires, in milliseconds since 1970. */
  readonly expires?: number;
};

/** Where tokens are stored. */
export type TokenWorld = Pick<World, "env" | "host" | "disk" | "files">;

/** Returns the path of the token file. */
export const tokenFile = async (world: Pick<World, "env" | "host" | "disk">, name: string): Promise<string> =>
  `${(await findHomeFolders(world)).config}/auth/${name}.json`;

/** Reads stored tokens; undefined if there are none or the file is malformed. */
export const readTokens = async (world: TokenWorld, name: string): Promise<StoredTokens | undefined> => {
  const stored = parseJsonOrUndefined((await world.files.read(await tokenFile(world, name))) ?? "");
  const client = getText(stored, "client");
  const refresh = getText(stored, "refresh");
  const access = getText(stored, "access");
  const expires = getField(stored, "expires");
  if (client === undefined || refresh === undefined) return undefined;
  if (access === undefined || typeof expires !== "number") return { client, refresh };
  return { client, refresh, access, expires };
};

/** Stores tokens in a file that only its owner can read. */
export const writeTokens = async (world: TokenWorld, name: string, tokens: StoredTokens): Promise<void> =>
  world.files.writePrivate(await tokenFile(world, name), `${JSON.stringify(tokens, undefined, 2)}\n`);

/** Deletes stored tokens. */
export const removeTokens = async (world: TokenWorld, name: string): Promise<void> =>
  world.files.remove(await tokenFile(world, name));
