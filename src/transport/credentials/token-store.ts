import type { World } from "../../world/world.ts";
import { getField, parseJsonOrUndefined, getText } from "./http.ts";
import { envValue } from "../endpoint.ts";

/** Stored OAuth tokens. `client` is the id of the OAuth client they were issued to. */
export type StoredTokens = {
  readonly client: string;
  readonly refresh: string;
  readonly access?: string;
  /** When `access` expires, in milliseconds since 1970. */
  readonly expires?: number;
};

/** Returns the path of the token file. */
export const tokenFile = ({ env, host }: Pick<World, "env" | "host">, name: string): string =>
  `${envValue(env, "PARLEY_HOME") ?? `${host.home}/.parley`}/auth/${name}.json`;

/** Reads stored tokens; undefined if there are none or the file is malformed. */
export const readTokens = async (
  world: Pick<World, "env" | "host" | "files">,
  name: string,
): Promise<StoredTokens | undefined> => {
  const stored = parseJsonOrUndefined((await world.files.read(tokenFile(world, name))) ?? "");
  const client = getText(stored, "client");
  const refresh = getText(stored, "refresh");
  const access = getText(stored, "access");
  const expires = getField(stored, "expires");
  if (client === undefined || refresh === undefined) return undefined;
  if (access === undefined || typeof expires !== "number") return { client, refresh };
  return { client, refresh, access, expires };
};

/** Stores tokens in a file that only its owner can read. */
export const writeTokens = (
  world: Pick<World, "env" | "host" | "files">,
  name: string,
  tokens: StoredTokens,
): Promise<void> => world.files.writePrivate(tokenFile(world, name), `${JSON.stringify(tokens, undefined, 2)}\n`);

/** Deletes stored tokens. */
export const removeTokens = (world: Pick<World, "env" | "host" | "files">, name: string): Promise<void> =>
  world.files.remove(tokenFile(world, name));
