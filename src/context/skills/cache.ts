import type { FileIdentity } from "../../world/disk.ts";
import { version } from "../../world/version.ts";
import type { PrivateFiles } from "../../world/world.ts";
import type { SkillDescription } from "./skill-file.ts";

/** The content of a folder with a SKILL.md: a skill, or the reason why it is none. */
export type SkillCandidate = { readonly folder: string } & (
  | { readonly skill: Omit<SkillDescription, "body"> }
  | { readonly problem: string }
);

/** A parsed skill file, and the identity of the file it was parsed from. */
type CachedSkill = { readonly identity: FileIdentity; readonly candidate: SkillCandidate };

/** Parsed skill files by folder. */
export type SkillCache = Pick<Map<string, CachedSkill>, "get" | "set">;

/** A cache in a private file, so that a start reads only skills that changed. */
export type SkillCacheFile = {
  /** Loads the cache once. Called only where there are skills. */
  readonly open: () => Promise<SkillCache>;
  /** Writes the cache if it changed. A failed write loses nothing. */
  readonly save: () => Promise<void>;
};

const maxEntries = 1000;

/** Opens the cache file in Parley's cache folder. One of another version of Parley is not used: it may parse differently. */
export const openSkillCacheFile = (
  files: Pick<PrivateFiles, "read" | "writePrivate">,
  cacheFolder: string,
): SkillCacheFile => {
  const path = `${cacheFolder}/skills.json`;
  let entries: Promise<Map<string, CachedSkill>> | undefined;
  let isChanged = false;
  const load = async (): Promise<Map<string, CachedSkill>> =>
    new Map(parseEntries(await files.read(path).catch(() => undefined)));
  return {
    open: async () => {
      const loaded = await (entries ??= load());
      const set: SkillCache["set"] = (folder, cached) => {
        isChanged = true;
        return loaded.set(folder, cached);
      };
      return { get: (folder) => loaded.get(folder), set };
    },
    save: async () => {
      if (entries === undefined || !isChanged) return;
      isChanged = false;
      const text = JSON.stringify({ version, entries: [...(await entries)].slice(-maxEntries) });
      await files.writePrivate(path, text).catch(() => undefined);
    },
  };
};

const parseEntries = (text: string | undefined): readonly (readonly [string, CachedSkill])[] => {
  try {
    const cached = JSON.parse(text ?? "") as {
      readonly version: string;
      readonly entries: readonly (readonly [string, CachedSkill])[];
    };
    return cached.version === version && Array.isArray(cached.entries) ? cached.entries : [];
  } catch {
    return [];
  }
};
