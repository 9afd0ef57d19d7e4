import { isObject } from "../../conversation/json.ts";
import { lazyProviders } from "../../providers/lazy.data.ts";
import type { Environment, World } from "../../world/world.ts";
import { AuthError } from "./api-key.ts";
import { parseJsonOrUndefined } from "./http.ts";
import type { KeyStoreWorld, SystemKeyStore } from "./system-key-store.ts";

/** A stored key: in the file itself, or in the system's store. */
type StoredKey = { readonly key: string } | { readonly in: "system" };

/** Stored keys by provider and profile. */
type StoredKeys = { readonly [provider: string]: { readonly [profile: string]: StoredKey } };

/** The profile that is used unless another is named. */
export const defaultProfile = "default";

/** Which profile each provider uses, and where keys are read. */
export type KeySelection = {
  readonly home: string;
  /** The profile of all providers that have one of this name. */
  readonly profile?: string | undefined;
  /** The profile of single providers. */
  readonly providers: { readonly [id: string]: { readonly profile?: string } };
};

/** The path of the file with stored keys. */
const keyFile = (home: string): string => `${home}/auth/keys.json`;

/** The variable that holds the key of a provider; undefined if it takes none. */
export const keyVariable = (provider: string): string | undefined =>
  lazyProviders.find(({ id }) => id === provider)?.keys[0];

/**
 * Adds stored keys to the environment, each as the variable of its provider. A variable that is set wins, unless the user
 * named a profile. Throws an `AuthError` if a named profile does not exist.
 */
export const applyStoredKeys = async (
  world: Pick<World, "files" | "env">,
  selection: KeySelection,
  openSystemStore: () => Promise<SystemKeyStore | undefined>,
): Promise<Environment> => {
  const { env } = world;
  const stored = await readKeys(world, selection.home);
  const { profile } = selection;
  if (profile !== undefined && profile !== defaultProfile && !Object.values(stored).some((keys) => profile in keys))
    throw new AuthError(
      "no-key",
      `No stored key has the profile "${profile}". Add one with parley login --profile ${profile}.`,
    );
  const found = await Promise.all(
    Object.entries(stored).map(async ([id, keys]): Promise<readonly (readonly [string, string])[]> => {
      const variable = keyVariable(id);
      const named = [selection.providers[id]?.profile, profile].find((name) => name !== undefined && name in keys);
      const isSet = lazyProviders.find((each) => each.id === id)?.keys.some((name) => (env[name] ?? "").trim() !== "");
      const entry = keys[named ?? defaultProfile];
      if (variable === undefined || entry === undefined || (isSet === true && named === undefined)) return [];
      const key =
        "key" in entry ? entry.key : await (await openSystemStore())?.read(`${id}/${named ?? defaultProfile}`);
      return key === undefined ? [] : [[variable, key]];
    }),
  );
  return { ...env, ...Object.fromEntries(found.flat()) };
};

/** Stores a key: in the system's store if one is given and accepts it, else in a file only its owner can read. Returns where. */
export const storeKey = async (
  world: Pick<World, "files">,
  home: string,
  { provider, profile, key, system }: KeyToStore,
): Promise<string> => {
  const stored = await readKeys(world, home);
  const isInSystem = (await system?.write(`${provider}/${profile}`, key)) === true;
  const entry: StoredKey = isInSystem ? { in: "system" } : { key };
  await writeKeys(world, home, { ...stored, [provider]: { ...stored[provider], [profile]: entry } });
  return isInSystem ? (system?.name ?? "") : keyFile(home);
};

/** A key, its provider and profile, and the system's store if it is to be kept there. */
export type KeyToStore = {
  readonly provider: string;
  readonly profile: string;
  readonly key: string;
  readonly system?: SystemKeyStore | undefined;
};

/** Deletes a stored key. False if there is none. */
export const removeKey = async (
  world: Pick<World, "files">,
  home: string,
  { provider, profile }: Pick<KeyToStore, "provider" | "profile">,
  openSystemStore: () => Promise<SystemKeyStore | undefined>,
): Promise<boolean> => {
  const stored = await readKeys(world, home);
  const entry = stored[provider]?.[profile];
  if (entry === undefined) return false;
  if ("in" in entry) await (await openSystemStore())?.remove(`${provider}/${profile}`);
  const { [profile]: _, ...others } = stored[provider] ?? {};
  const { [provider]: __, ...rest } = stored;
  await writeKeys(world, home, Object.keys(others).length === 0 ? rest : { ...rest, [provider]: others });
  return true;
};

const writeKeys = (world: Pick<World, "files">, home: string, keys: StoredKeys): Promise<void> =>
  world.files.writePrivate(keyFile(home), `${JSON.stringify(keys, undefined, 2)}\n`);

const readKeys = async ({ files }: Pick<World, "files">, home: string): Promise<StoredKeys> => {
  const text = await files.read(keyFile(home));
  if (text === undefined) return {};
  const stored = parseJsonOrUndefined(text);
  if (!isObject(stored))
    throw new AuthError(
      "no-key",
      `${keyFile(home)} is damaged. Delete it, and store the keys again with parley login.`,
    );
  return Object.fromEntries(
    Object.entries(stored).map(([provider, keys]) => [
      provider,
      Object.fromEntries(
        Object.entries(isObject(keys) ? keys : {}).filter((each): each is [string, StoredKey] => isStoredKey(each[1])),
      ),
    ]),
  );
};

const isStoredKey = (value: unknown): value is StoredKey =>
  isObject(value) && (typeof value["key"] === "string" || value["in"] === "system");

/** Opens the system's store once, when it is first needed. */
export const lazySystemStore = (world: () => Promise<KeyStoreWorld>): (() => Promise<SystemKeyStore | undefined>) => {
  let opening: Promise<SystemKeyStore | undefined> | undefined;
  return () => (opening ??= (async () => (await import("./system-key-store.ts")).findSystemKeyStore(await world()))());
};
