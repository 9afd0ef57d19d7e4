import type { World } from "../world/world.ts";
import { fieldIn, jsonOf, textIn } from "./credentials-http.ts";
import { valueOf } from "./endpoint.ts";

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
  `${valueOf(env, "PARLEY_HOME") ?? `${host.home}/.parley`}/auth/${name}.json`;

/** The tokens of a sign-in. A file that cannot be read as such counts as none. */
export const readTokens = async (
  world: Pick<World, "env" | "host" | "files">,
  name: string,
): Promise<StoredTokens | undefined> => {
  const stored = jsonOf((await world.files.read(tokenFile(world, name))) ?? "");
  const client = textIn(stored, "client");
  const refresh = textIn(stored, "refresh");
  const access = textIn(stored, "access");
  const expires = fieldIn(stored, "expires");
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
