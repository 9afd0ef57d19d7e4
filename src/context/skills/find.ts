import { basename, join, relative, sep } from "node:path";
import { isInside } from "../../policy/workspace/paths.ts";
import type { Disk, FileHead, FileIdentity } from "../../world/disk.ts";
import { listProjectFoldersUpward } from "../context-files/paths.ts";
import type { SkillCache, SkillCacheFile, SkillCandidate } from "./cache.ts";
import { parseSkillFile, type SkillDescription } from "./skill-file.ts";

/** A skill that was found. */
export type Skill = Omit<SkillDescription, "body"> & {
  /** The canonical path of its folder. */
  readonly folder: string;
  /** The folder that tools may read for it: the one with all skills of its place, or its own if a link leads to it. */
  readonly root: string;
  /** Where it is, for people: relative to the project, or with `~`. */
  readonly label: string;
  readonly source: "project" | "user" | "plugin";
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
  /** The folders of the skills of plugins. */
  readonly plugins?: readonly PluginSkillFolder[];
};

/** The folder of a plugin's skill, by its canonical path. */
export type PluginSkillFolder = {
  readonly folder: string;
  /** The root of the plugin, which tools may read. */
  readonly root: string;
  readonly label: string;
  /** Precedes the skill's name. */
  readonly prefix: string;
  /** Whether a skill that violates the specification is left out. */
  readonly isStrict: boolean;
};

/** The skills that were found, sorted by name, and messages about files that are no skills or are shadowed. */
export type FoundSkills = { readonly skills: readonly Skill[]; readonly notes: readonly string[] };

/** Folders with skills, in a project and in the user's home. An earlier one wins. */
const skillFolders = [".agents/skills", ".parley/skills", ".claude/skills", ".gemini/skills"];

const limits = { skills: 500, folders: 2000, depth: 3, bytes: 200_000 };

/**
 * Finds skills: in the project's folder and its parents up to the root of the repository, then in the user's home. The
 * first skill of a name wins. Files in the cache that did not change are not read.
 */
export const findSkills = async (
  locations: SkillLocations,
  openCache: SkillCacheFile["open"] = async () => new Map(),
): Promise<FoundSkills> => {
  const { disk, project, plugins = [] } = locations;
  const canonicalize = async (path: string): Promise<string> => (await disk.canonicalPath(path)) ?? path;
  const [home, userHome] = [await canonicalize(locations.home), await canonicalize(locations.userHome)];
  const places = [...(await listProjectPlaces({ ...locations, userHome })), ...listUserPlaces(home, userHome)];
  // The folders rarely exist, and this is the cheapest way to know.
  const existing = (
    await Promise.all(places.map(async (place) => ({ ...place, folder: await canonicalPathOf(disk, place.path) })))
  ).flatMap(({ folder, ...place }) => (folder === undefined ? [] : [{ ...place, folder }]));
  if (existing.length === 0 && plugins.length === 0) return { skills: [], notes: [] };
  const found = new Map<string, Skill>();
  const seen = new Set<string>();
  const notes: string[] = [];
  const add = (skill: Skill): void => {
    const first = found.get(skill.name);
    if (first !== undefined) notes.push(`${skill.label} is not used: ${first.label} has the same name.`);
    else if (found.size < limits.skills) found.set(skill.name, skill);
  };
  const search: SkillSearch = { disk, budget: { folders: limits.folders }, seen, cache: await openCache() };
  for (const { folder, within, source } of existing)
    for (const candidate of isInside(folder, within) ? await readInside(search, { folder, within, depth: 0 }) : []) {
      const label = labelOf(candidate.folder, source, { project, userHome });
      const root = isInside(candidate.folder, folder) ? folder : candidate.folder;
      if ("problem" in candidate) notes.push(`${label} is not a skill: ${candidate.problem}.`);
      else add({ ...candidate.skill, folder: candidate.folder, root, label, source });
    }
  for (const { folder, root, label, prefix, isStrict } of plugins) {
    const candidate = await readCandidate(search, folder);
    if (candidate === undefined) continue;
    const problem = "problem" in candidate ? candidate.problem : isStrict ? findViolation(candidate.skill) : undefined;
    if (problem !== undefined) notes.push(`${label} is not used: ${problem.replace(/\.$/, "")}.`);
    else if ("skill" in candidate)
      add({ ...candidate.skill, name: `${prefix}${candidate.skill.name}`, folder, root, label, source: "plugin" });
  }
  return { skills: [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), notes };
};

const findViolation = ({ problems }: Pick<Skill, "problems">): string | undefined =>
  problems.find(({ severity }) => severity === "error")?.message;

/** Reads the SKILL.md of a folder, by its canonical path. Undefined if it is gone or cannot be read. */
export const readSkillText = async (disk: Disk, folder: string): Promise<string | undefined> => {
  const file = await readSkillHead(disk, folder);
  return file === undefined ? undefined : new TextDecoder().decode(file.bytes as Uint8Array);
};

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
  readonly cache: SkillCache;
};

type SkillFolder = { readonly folder: string; readonly within: string; readonly depth: number };

const readInside = async (
  search: SkillSearch,
  { folder, within, depth }: SkillFolder,
): Promise<readonly SkillCandidate[]> => {
  const { disk, budget, seen } = search;
  const names = (await disk.listNames(folder).catch(() => [])).filter(
    ({ name, kind }) => (kind === "folder" || kind === "link") && !name.startsWith(".") && name !== "node_modules",
  );
  const candidates: SkillCandidate[] = [];
  const unchanged = await findUnchanged(
    search,
    names.map(({ name }) => folder + sep + name),
  );
  for (const { name, kind } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (budget.folders-- <= 0) break;
    const inner = kind === "folder" ? folder + sep + name : await canonicalPathOf(disk, folder + sep + name);
    if (inner === undefined || !isInside(inner, within) || seen.has(inner)) continue;
    seen.add(inner);
    const candidate = unchanged.get(inner) ?? (await readCandidate(search, inner));
    if (candidate !== undefined) candidates.push(candidate);
    else if (depth + 1 < limits.depth)
      candidates.push(...(await readInside(search, { folder: inner, within, depth: depth + 1 })));
  }
  return candidates;
};

/** The skills of folders whose file is still the one in the cache. Files are looked at in one step, which is much faster. */
const findUnchanged = async (
  { disk, cache }: SkillSearch,
  folders: readonly string[],
): Promise<ReadonlyMap<string, SkillCandidate>> => {
  const known = folders.flatMap((folder) => {
    const cached = cache.get(folder);
    return cached === undefined ? [] : [{ folder, cached }];
  });
  if (known.length === 0) return new Map();
  const identities = await disk.listIdentities(known.map(({ folder }) => folder + sep + "SKILL.md"));
  return new Map(
    known.flatMap(({ folder, cached }, at) =>
      identities[at] === cached.identity ? [[folder, cached.candidate] as const] : [],
    ),
  );
};

/** Reads the skill in a folder; undefined if it has no SKILL.md. */
const readCandidate = async ({ disk, cache }: SkillSearch, folder: string): Promise<SkillCandidate | undefined> => {
  const cached = cache.get(folder);
  const file = await readSkillHead(disk, folder, cached?.identity);
  if (file === undefined) return undefined;
  if (file.bytes === "unchanged" && cached !== undefined) return cached.candidate;
  const parsed = await parseSkillFile(new TextDecoder().decode(file.bytes as Uint8Array), basename(folder));
  const candidate = "problem" in parsed ? { folder, problem: parsed.problem } : { folder, skill: withoutBody(parsed) };
  cache.set(folder, { identity: file.identity, candidate });
  return candidate;
};

const withoutBody = (skill: SkillDescription): Omit<SkillDescription, "body"> => {
  const { body: _, ...rest } = skill;
  return rest;
};

const readSkillHead = (disk: Disk, folder: string, known?: FileIdentity): Promise<FileHead | undefined> =>
  disk
    .readHead(join(folder, "SKILL.md"), { maxBytes: limits.bytes, ...(known === undefined ? {} : { known }) })
    .catch(() => undefined);

const canonicalPathOf = (disk: Disk, path: string): Promise<string | undefined> =>
  disk.canonicalPath(path).catch(() => undefined);

/** A path relative to the project, or with `~` for the user's home. */
const labelOf = (
  path: string,
  source: Skill["source"],
  { project, userHome }: { readonly project: string | undefined; readonly userHome: string },
): string => {
  if (source === "project" && project !== undefined)
    return isInside(path, project) ? path.slice(project.length + 1) : relative(project, path);
  return isInside(path, userHome) ? `~${path.slice(userHome.length)}` : path;
};
