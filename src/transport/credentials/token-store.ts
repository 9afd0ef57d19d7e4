import type { World } from "../../world/world.ts";
import { getField, parseJsonOrUndefined, getText } from "./http.ts";
import { envValue } from "../endpoint.ts";

/** What a sign-in leaves behind. `client` is the id of the application it was made for. */
export type StoredTokens = {
  readonly client: string;
  readonly refresh: string;
  readonly access?: string;
  /** When `access` stops being good, in milliseconds since 1970. */
  readonly expires?: number;
};

/** Where the tokens of a sign-in are kept. */
export const tokenFile = ({ env, host }: Pick<World, "env" | "host">, name: string): string =>
  `${envValue(env, "PARLEY_HOME") ?? `${host.home}/.parley`}/auth/${name}.json`;

/** The tokens of a sign-in. A file that cannot be read as such counts as none. */
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

/** Keeps tokens where only their owner can read them. */
export const writeTokens = (
  world: Pick<World, "env" | "host" | "files">,
  name: string,
  tokens: StoredTokens,
): Promise<void> => world.files.writePrivate(tokenFile(world, name), `${JSON.stringify(tokens, undefined, 2)}\n`);

/** Forgets tokens. */
export const removeTokens = (world: Pick<World, "env" | "host" | "files">, name: string): Promise<void> =>
  world.files.remove(tokenFile(world, name));
