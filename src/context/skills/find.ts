import { basename, join, relative } from "node:path";
import { isInside } from "../../policy/workspace/paths.ts";
import type { Disk, Folder } from "../../world/disk.ts";
import { listProjectFoldersUpward } from "../context-files/paths.ts";
import { parseSkillFile, type SkillDescription } from "./skill-file.ts";

/** A skill that was found. */
export type Skill = Omit<SkillDescription, "body"> & {
  /** The canonical path of its folder. */
  readonly folder: string;
  /** Where it is, for people: relative to the project, or with `~`. */
  readonly label: string;
  readonly source: "project" | "user";
};

/** Where skills are searched. */
export type SkillLocations = {
  readonly disk: Disk;
  /** Parley's own folder. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  /** The project's folder, if it is trusted. */
  readonly project?: string;
  readonly isTrusted: (folder: string) => Promise<boolean>;
};

/** The skills that were found, sorted by name, and messages about files that are no skills or are shadowed. */
export type FoundSkills = { readonly skills: readonly Skill[]; readonly notes: readonly string[] };

/** Folders with skills, in a project and in the user's home. An earlier one wins. */
const skillFolders = [".agents/skills", ".parley/skills", ".claude/skills", ".gemini/skills"];

const limits = { skills: 500, folders: 2000, depth: 3, bytes: 200_000 };

/**
 * Finds skills: in the project's folder and its parents up to the root of the repository, then in the user's home. The
 * first skill of a name wins.
 */
export const findSkills = async (locations: SkillLocations): Promise<FoundSkills> => {
  const { disk, project } = locations;
  const canonicalize = async (path: string): Promise<string> => (await disk.canonicalPath(path)) ?? path;
  const [home, userHome] = [await canonicalize(locations.home), await canonicalize(locations.userHome)];
  const places = [...(await listProjectPlaces({ ...locations, userHome })), ...listUserPlaces(home, userHome)];
  // The folders rarely exist, and this is the cheapest way to know.
  const existing = (
    await Promise.all(places.map(async (place) => ({ ...place, folder: await canonicalPathOf(disk, place.path) })))
  ).flatMap(({ folder, ...place }) => (folder === undefined ? [] : [{ ...place, folder }]));
  if (existing.length === 0) return { skills: [], notes: [] };
  const found = new Map<string, Skill>();
  const seen = new Set<string>();
  const notes: string[] = [];
  const search: SkillSearch = { disk, budget: { folders: limits.folders }, seen };
  for (const place of existing)
    for (const candidate of await readSkillFolders(search, place)) {
      const label = labelOf(candidate.folder, place.source, { project, userHome });
      if ("problem" in candidate) notes.push(`${label} is not a skill: ${candidate.problem}.`);
      else {
        const { body: _, ...skill } = candidate.skill;
        const first = found.get(skill.name);
        if (first !== undefined) notes.push(`${label} is not used: ${first.label} has the same name.`);
        else if (found.size < limits.skills)
          found.set(skill.name, { ...skill, folder: candidate.folder, label, source: place.source });
      }
    }
  return { skills: [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), notes };
};

/** Reads the SKILL.md of a folder, by its canonical path. Undefined if it is gone or cannot be read. */
export const readSkillText = (disk: Disk, folder: string): Promise<string | undefined> =>
  readSkillIn(() => disk.openFolder(folder));

type SkillPlace = {
  readonly path: string;
  readonly source: Skill["source"];
  /** Links must not lead out of this folder. */
  readonly within: string;
};

const listProjectPlaces = async ({
  disk,
  project,
  userHome,
  isTrusted,
}: SkillLocations): Promise<readonly SkillPlace[]> => {
  if (project === undefined) return [];
  const folders = await listProjectFoldersUpward({ disk, isTrusted, person: userHome }, project);
  const within = folders[0] ?? project;
  return folders
    .toReversed()
    .flatMap((folder) =>
      skillFolders.map((name) => ({ path: join(folder, name), source: "project" as const, within })),
    );
};

const listUserPlaces = (home: string, userHome: string): readonly SkillPlace[] =>
  skillFolders.map((name) =>
    name.startsWith(".parley/")
      ? { path: join(home, "skills"), source: "user", within: isInside(home, userHome) ? userHome : home }
      : { path: join(userHome, name), source: "user", within: userHome },
  );

type SkillSearch = {
  readonly disk: Disk;
  readonly budget: { folders: number };
  /** Folders that were read already: several places can lead to one folder. */
  readonly seen: Set<string>;
};

type SkillCandidate = { readonly folder: string } & (
  | { readonly skill: SkillDescription }
  | { readonly problem: string }
);

const readSkillFolders = async (
  search: SkillSearch,
  { folder, within }: SkillPlace & { readonly folder: string },
): Promise<readonly SkillCandidate[]> =>
  isInside(folder, within) ? readInside(search, { folder, within, depth: 0 }) : [];

type SkillFolder = { readonly folder: string; readonly within: string; readonly depth: number };

const readInside = async (
  search: SkillSearch,
  { folder: path, within, depth }: SkillFolder,
): Promise<readonly SkillCandidate[]> => {
  const folder = await search.disk.openFolder(path).catch(() => undefined);
  if (folder === undefined) return [];
  try {
    const candidates: SkillCandidate[] = [];
    const names: { readonly name: string; readonly kind: string }[] = [];
    for await (const { name, kind } of folder.list())
      if (!name.startsWith(".") && name !== "node_modules") names.push({ name, kind });
    for (const { name, kind } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (kind !== "folder" && kind !== "link") continue;
      if (search.budget.folders-- <= 0) break;
      const inner = kind === "folder" ? join(path, name) : await canonicalPathOf(search.disk, join(path, name));
      if (inner === undefined || !isInside(inner, within) || search.seen.has(inner)) continue;
      search.seen.add(inner);
      const text = await readSkillIn(
        kind === "folder" ? () => folder.openFolder(name) : () => search.disk.openFolder(inner),
      );
      if (text !== undefined) {
        const skill = await parseSkillFile(text, basename(inner));
        candidates.push("problem" in skill ? { folder: inner, problem: skill.problem } : { folder: inner, skill });
      } else if (depth + 1 < limits.depth) {
        candidates.push(...(await readInside(search, { folder: inner, within, depth: depth + 1 })));
      }
    }
    return candidates;
  } finally {
    await folder.close();
  }
};

const canonicalPathOf = (disk: Disk, path: string): Promise<string | undefined> =>
  disk.canonicalPath(path).catch(() => undefined);

/** Reads the SKILL.md of a folder; undefined if it has none. */
const readSkillIn = async (open: () => Promise<Folder>): Promise<string | undefined> => {
  try {
    const folder = await open();
    try {
      return await readText(folder, "SKILL.md");
    } finally {
      await folder.close();
    }
  } catch {
    return undefined;
  }
};

const readText = async (folder: Folder, name: string): Promise<string> => {
  const file = await folder.openFile(name);
  try {
    const { size } = await file.stat();
    return new TextDecoder().decode(await file.read(0, Math.min(size, limits.bytes)));
  } finally {
    await file.close();
  }
};

/** A path relative to the project, or with `~` for the user's home. */
const labelOf = (
  path: string,
  source: Skill["source"],
  { project, userHome }: { readonly project: string | undefined; readonly userHome: string },
): string => {
  if (source === "project" && project !== undefined) return relative(project, path);
  return isInside(path, userHome) ? join("~", relative(userHome, path)) : path;
};
