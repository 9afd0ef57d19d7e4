import { DiskError, type Disk } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { foreignAgents, type ForeignAgent } from "./agents.ts";
import type { BaseFolder, DatabaseFormat, FileFormat, PathNames, SessionFacts } from "./format.ts";
import {
  findFiles,
  peekRecords,
  readSmallFile,
  resolveBase,
  withFile,
  type FoundFile,
  type SearchPlace,
} from "./files.ts";
import { loadFormats } from "./formats.ts";
import { openDatabase } from "./sqlite/database.ts";

/** A session of another agent, as a row of a list. */
export type ForeignSession = {
  readonly agent: ForeignAgent;
  readonly id: string;
  /** The title the other agent gave it, or the start of the first prompt. */
  readonly title: string;
  /** The folder it worked in, as recorded. */
  readonly folder?: string;
  readonly created: number;
  readonly modified: number;
  /** The size of its file in bytes; 0 in a database. */
  readonly size: number;
  /** The session it was forked from, by the other agent's id. */
  readonly forkOf?: string;
  /** Where it is: the agent's folder and the names below it. */
  readonly location: { readonly base: string; readonly path: PathNames };
};

/** The sessions of other agents, last used first, and what could not be listed. */
export type ForeignSessions = { readonly sessions: readonly ForeignSession[]; readonly problems: readonly string[] };

/** Which sessions to list: of a folder, or of all; of one agent, or of all. */
export type ForeignQuery = {
  /** The folder whose sessions are listed; undefined lists those of all folders. */
  readonly folder?: string | undefined;
  /** The user's home folder, in which the agents keep theirs. */
  readonly home: string;
  readonly agents?: readonly ForeignAgent[] | undefined;
  /** The most sessions to list of each agent, the last used ones. */
  readonly limit?: number | undefined;
  /** The beginning of an id. Files of other ids are not opened. */
  readonly idPrefix?: string | undefined;
};

/** Files beyond the newest are not opened for a list. */
const maxPeeks = 2000;

/** Lists the sessions of other agents on this machine. Nothing is written, and no link is followed out of an agent's folder. */
export const listForeignSessions = async (
  world: Pick<World, "disk" | "env">,
  { folder, home, agents = foreignAgents, limit = Infinity, idPrefix = "" }: ForeignQuery,
): Promise<ForeignSessions> => {
  const sessions: ForeignSession[] = [];
  const problems: string[] = [];
  const place: SearchPlace = { world, home, folder };
  for (const agent of agents)
    for (const format of await loadFormats[agent]()) {
      const found = await listFormat(agent, format, place, { folder, limit, idPrefix }).catch((error: unknown) => ({
        sessions: [],
        problems: [`${agent}: ${error instanceof Error ? error.message : String(error)}`],
      }));
      sessions.push(...found.sessions);
      problems.push(...found.problems);
    }
  return { sessions: sessions.toSorted((one, other) => other.modified - one.modified), problems };
};

const listFormat = async (
  agent: ForeignAgent,
  format: FileFormat | DatabaseFormat,
  place: SearchPlace,
  { folder, limit, idPrefix }: Pick<FileSearch, "folder" | "limit" | "idPrefix">,
): Promise<ForeignSessions> => {
  const base = await resolveBase(place, format.bases);
  if (base === undefined) return { sessions: [], problems: [] };
  const isWanted = folderFilter(place.world.disk, folder);
  return "database" in format
    ? listDatabase(agent, format, { disk: place.world.disk, base, project: projectOf(format.bases, place), isWanted })
    : listFiles(agent, format, { disk: place.world.disk, base, folder, isWanted, limit, idPrefix });
};

type FileSearch = {
  readonly disk: Disk;
  readonly base: string;
  readonly folder: string | undefined;
  readonly isWanted: (folder: string | undefined) => Promise<boolean>;
  readonly limit: number;
  readonly idPrefix: string;
};

const listFiles = async (
  agent: ForeignAgent,
  format: FileFormat,
  { disk, base, folder, isWanted, limit, idPrefix }: FileSearch,
): Promise<ForeignSessions> => {
  const found: FoundFile[] = [];
  let links = 0;
  for (const pattern of format.files.flatMap((each) => narrowPattern(each, format, folder))) {
    const result = await findFiles(disk, base, pattern);
    found.push(...result.files);
    links += result.links;
  }
  const newest = found
    .filter(({ path }) => idOfPath(format, path).startsWith(idPrefix))
    .toSorted((one, other) => other.modified - one.modified);
  const sessions: ForeignSession[] = [];
  for (const file of newest.slice(0, maxPeeks)) {
    if (sessions.length >= limit) break;
    const facts = await describeFile(disk, base, format, file).catch(() => undefined);
    if (facts !== undefined && facts.parent?.kind !== "subagent" && (await isWanted(facts.folder)))
      sessions.push(toSession(agent, format, file, facts, base));
  }
  const problems = [
    ...(links > 0 ? [`${agent}: ${links} symbolic links are not followed.`] : []),
    ...(newest.length > maxPeeks && sessions.length < limit
      ? [`${agent}: ${newest.length - maxPeeks} older files are not listed.`]
      : []),
  ];
  return { sessions, problems };
};

/** Replaces the project's name in a pattern by those it can have for a folder. */
const narrowPattern = (
  pattern: PathNames,
  { projectNames }: FileFormat,
  folder: string | undefined,
): readonly PathNames[] =>
  folder === undefined || projectNames === undefined
    ? [pattern]
    : projectNames(folder).map((name) => pattern.toSpliced(pattern.indexOf("*"), 1, name));

/** Describes a session file from its beginning and its end; undefined if it is not one. */
export const describeFile = (
  disk: Disk,
  base: string,
  format: FileFormat,
  { path }: Pick<FoundFile, "path">,
): Promise<SessionFacts | undefined> =>
  withFile(disk, base, path, async (file) => {
    const beside = await readBeside(disk, base, format, path);
    const look = async (bytes: number): Promise<SessionFacts | undefined> =>
      format.describe({ path, ...(await peekRecords(file, isDocument(path), bytes)), beside });
    const facts = await look(fewBytes);
    // Some files begin with long instructions, and the first prompt comes after them.
    return facts?.title === undefined || facts.title === "" ? look(manyBytes) : facts;
  });

const fewBytes = 2 ** 14;
const manyBytes = 2 ** 17;

/** Reads the small files that say more about a session. */
export const readBeside = (
  disk: Disk,
  base: string,
  { beside }: FileFormat,
  path: PathNames,
): Promise<readonly string[]> => Promise.all((beside?.(path) ?? []).map((names) => readSmallFile(disk, base, names)));

/** Whether a session file is one JSON document instead of JSON lines. */
export const isDocument = (path: PathNames): boolean => path.at(-1)?.endsWith(".json") === true;

const toSession = (
  agent: ForeignAgent,
  format: FileFormat,
  { path, size, modified }: FoundFile,
  { title, folder, created, parent }: SessionFacts,
  base: string,
): ForeignSession => ({
  agent,
  id: idOfPath(format, path),
  title: toTitle(title ?? ""),
  ...(folder === undefined ? {} : { folder }),
  created: created ?? modified,
  modified,
  size,
  ...(parent === undefined ? {} : { forkOf: parent.id }),
  location: { base, path },
});

/** Returns the id of a session from the path of its file. */
export const idOfPath = ({ idOf = nameWithoutEnding }: FileFormat, path: PathNames): string => idOf(path);

const nameWithoutEnding = (path: PathNames): string => path.at(-1)?.replace(/\.[a-z.]+$/, "") ?? "";

type DatabaseSearch = {
  readonly disk: Disk;
  readonly base: string;
  /** The project's folder, for a database inside it. */
  readonly project: string | undefined;
  readonly isWanted: (folder: string | undefined) => Promise<boolean>;
};

const listDatabase = async (
  agent: ForeignAgent,
  { database: path, list }: DatabaseFormat,
  { disk, base, project, isWanted }: DatabaseSearch,
): Promise<ForeignSessions> => {
  const sessions = await openDatabase(disk, base, path, async (database) => {
    const found: ForeignSession[] = [];
    for await (const { id, title, folder = project, created = 0, modified = created } of list(database))
      if (await isWanted(folder))
        found.push({
          agent,
          id,
          title: toTitle(title ?? ""),
          ...(folder === undefined ? {} : { folder }),
          created,
          modified,
          size: 0,
          location: { base, path },
        });
    return found;
  }).catch((error: unknown) => {
    if (error instanceof DiskError && error.code === "ENOENT") return [];
    throw error;
  });
  return { sessions, problems: [] };
};

const projectOf = (bases: readonly BaseFolder[], { folder }: SearchPlace): string | undefined =>
  bases.some((base) => "project" in base) ? folder : undefined;

/** Returns whether a recorded folder is the wanted one, also where it was recorded through a link. */
const folderFilter = (disk: Disk, wanted: string | undefined): ((folder: string | undefined) => Promise<boolean>) => {
  if (wanted === undefined) return () => Promise.resolve(true);
  const known = new Map<string, boolean>();
  return async (folder) => {
    if (folder === undefined || !folder.startsWith("/")) return false;
    const result =
      known.get(folder) ?? (folder === wanted || (await disk.canonicalPath(folder).catch(() => undefined)) === wanted);
    known.set(folder, result);
    return result;
  };
};

const maxTitleLength = 80;

/** The start of a text on one line. */
const toTitle = (text: string): string => {
  const line = text.slice(0, 2000).replaceAll(/\s+/g, " ").trim().toWellFormed();
  const characters = Array.from(line);
  return characters.length > maxTitleLength ? `${characters.slice(0, maxTitleLength - 1).join("")}…` : line;
};
