import { join } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { parseRecord } from "../log/content.ts";
import { createSessionFile, type NewSession } from "./create.ts";
import { toSessionReadError, toSessionError, SessionError } from "../error.ts";
import type { SessionDamage } from "../repair/damage.ts";
import { loadBlobs } from "./blobs.ts";
import { openFolder, withFolder } from "./folders.ts";
import { findSessionFiles, readSummary } from "./list.ts";
import { readSessionFile, loadSavedSession, type ParsedSessionFile, type SavedSession } from "../load.ts";
import { planRepair } from "../repair/plan.ts";
import { acquireSessionLock, type ReleaseLock } from "./lock.ts";
import { sessionFileName, findSession, type SessionLocation, type SessionScope } from "./locate.ts";
import type { StoredRecord } from "../log/record.ts";
import { pruneSessions, removeSession, type Retention } from "./remove.ts";
import { scanFile } from "../log/scan.ts";
import { findExcerpts, type Excerpt } from "./search.ts";
import { openSessionFile, type Session } from "../session.ts";
import { summarizeContent, type SessionSummary } from "./summary.ts";
import { removeUnusedBlobs } from "./unused-blobs.ts";

/** Limits a query to the sessions of one project. */
export type ProjectFilter = { readonly root?: string };

/** A session with search hits. */
export type SessionMatch = { readonly summary: SessionSummary; readonly excerpts: readonly Excerpt[] };

/** A session opened for reading, with access to all of its records. */
export type ReadSession = SavedSession & { readonly records: () => AsyncIterable<StoredRecord> };

/** The saved sessions. Ids can be shortened to a unique prefix. All methods throw `SessionError`. */
export type SessionStore = {
  /** Lists up to `limit` sessions, most recently used first. */
  readonly list: (query?: ProjectFilter & { readonly limit?: number }) => Promise<readonly SessionSummary[]>;
  readonly create: (start: NewSession) => Promise<Session>;
  /** Creates the session of a subagent, which belongs to another session. Default: files beside the user's. */
  readonly createSubagent?: (parent: string, start: NewSession) => Promise<Session>;
  /** Opens a session for writing. Repairs damage and reports it in `damage`. */
  readonly open: (id: string, query?: ProjectFilter) => Promise<Session>;
  /** Reads a session without a lock and without changing it. */
  readonly read: (id: string, query?: ProjectFilter) => Promise<ReadSession>;
  /** Searches sessions, most recently used first. */
  readonly search: (
    words: string,
    query?: ProjectFilter & {
      readonly limit?: number;
      /** Called with the number of sessions searched, and of all. */
      readonly onProgress?: (done: number, total: number) => void;
    },
  ) => Promise<readonly SessionMatch[]>;
  readonly rename: (id: string, title: string, query?: ProjectFilter) => Promise<void>;
  readonly remove: (id: string, query?: ProjectFilter) => Promise<void>;
  /** Removes sessions beyond the retention and returns their ids. */
  readonly prune: (retention: Retention & ProjectFilter) => Promise<readonly string[]>;
  /** Reports the damage `repair` would find. */
  readonly examine: (id: string, query?: ProjectFilter) => Promise<readonly SessionDamage[]>;
  /** Repairs a session, even one without a readable record, and saves the bytes it removes. */
  readonly repair: (id: string, query?: ProjectFilter) => Promise<readonly SessionDamage[]>;
};

/** Opens the session store in a home folder. */
export const openSessionStore = (world: World, { home }: { readonly home: string }): SessionStore => {
  const base = join(home, "sessions");
  const scopeOf = ({ root }: ProjectFilter = {}): SessionScope => ({ disk: world.disk, base, root });
  const find = (id: string, query?: ProjectFilter): Promise<SessionLocation> =>
    wrapReadErrors(base, findSession(scopeOf(query), id));
  const open = async (id: string, { allowUnreadable = false, ...query }: OpenSessionOptions = {}): Promise<Session> =>
    wrapWriteErrors(base, openSessionAt(world, await find(id, query), allowUnreadable));

  return {
    list: (query) => wrapReadErrors(base, listSummaries(scopeOf(query), query?.limit)),
    create: (start) => wrapWriteErrors(base, createSession(world, base, start)),
    open: (id, query) => open(id, query),
    read: async (id, query) => wrapReadErrors(base, readSessionAt(world, await find(id, query))),
    search: (words, query) => wrapReadErrors(base, searchSessions(world, scopeOf(query), { words, ...query })),
    rename: async (id, title, query) => {
      const session = await open(id, query);
      await session.append([{ kind: "title", title }]).finally(session.close);
    },
    remove: async (id, query) => wrapWriteErrors(base, removeSession(world, home, await find(id, query))),
    prune: ({ root, ...retention }) =>
      wrapWriteErrors(base, pruneSessions(world, { ...scopeOf(projectFilter(root)), home }, retention)),
    examine: async (id, query) =>
      (await wrapReadErrors(base, readSessionAt(world, await find(id, query), true))).damage,
    repair: async (id, query) => {
      const location = await find(id, query);
      const session = await open(location.id, { ...query, allowUnreadable: true });
      await session.close();
      await wrapWriteErrors(
        base,
        withProjectFolder(world, location, (folder) => removeUnusedBlobs(world, folder)),
      );
      return session.damage;
    },
  };
};

type OpenSessionOptions = ProjectFilter & { readonly allowUnreadable?: boolean };

const projectFilter = (root: string | undefined): ProjectFilter => (root === undefined ? {} : { root });

const wrapReadErrors = <Result>(path: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw toSessionReadError(error, path);
  });

const wrapWriteErrors = <Result>(path: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw toSessionError(error, path);
  });

const listSummaries = async (scope: SessionScope, limit = 100): Promise<readonly SessionSummary[]> => {
  const summaries: SessionSummary[] = [];
  for (const found of await findSessionFiles(scope)) {
    if (summaries.length === limit) break;
    const summary = await readSummary(scope, found);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries;
};

const createSession = async (world: World, base: string, start: NewSession): Promise<Session> => {
  const { folder, id, release } = await createSessionFile(world, base, start);
  return openLocked(world, { folder, location: { path: folder.path, id }, release, allowUnreadable: false });
};

const openSessionAt = async (world: World, location: SessionLocation, allowUnreadable: boolean): Promise<Session> => {
  const folder = await openFolder(world.disk, location.path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id: location.id });
  const release = await acquireSessionLock(world, folder, location.id).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  return openLocked(world, { folder, location, release, allowUnreadable });
};

type LockedSessionFile = {
  readonly folder: Folder;
  readonly location: SessionLocation;
  readonly release: ReleaseLock;
  readonly allowUnreadable: boolean;
};

/** Opens a session file whose lock is held. Closing the session closes file, lock and folder, in that order. */
const openLocked = async (
  world: World,
  { folder, location, release, allowUnreadable }: LockedSessionFile,
): Promise<Session> => {
  const { id } = location;
  const context = {
    id,
    name: sessionFileName(id),
    folder,
    clock: world.clock,
    records: () => streamRecords(world, location),
    allowUnreadable,
  };
  try {
    // Another process may have removed it before the lock was acquired.
    if ((await folder.stat(context.name)) === undefined) throw new SessionError({ kind: "not-found", id });
    const session = await openSessionFile(context);
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await session.close();
      await release();
      await folder.close();
    };
    return { ...session, close: () => (closing ??= close()) };
  } catch (error) {
    await release();
    await folder.close();
    throw error;
  }
};

const withProjectFolder = async <Result>(
  world: World,
  { path, id }: SessionLocation,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  const folder = await openFolder(world.disk, path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id });
  return withFolder(folder, work);
};

/** Parses a session file and runs a function with the result. */
const withParsedFile = <Result>(
  world: World,
  location: SessionLocation,
  work: (parsed: ParsedSessionFile, facts: { readonly folder: Folder; readonly modified: number }) => Promise<Result>,
  allowUnreadable = false,
): Promise<Result> =>
  withProjectFolder(world, location, async (folder) => {
    const file = await folder.openFile(sessionFileName(location.id));
    try {
      const parsed = await readSessionFile(file, {
        id: location.id,
        path: `${folder.path}/${sessionFileName(location.id)}`,
        allowUnreadable,
      });
      return await work(parsed, { folder, modified: (await file.stat()).modified });
    } finally {
      await file.close();
    }
  });

const readSessionAt = (world: World, location: SessionLocation, allowUnreadable = false): Promise<ReadSession> =>
  withParsedFile(
    world,
    location,
    async (parsed, facts) => ({
      ...(await loadSavedSession(parsed, {
        id: location.id,
        modified: facts.modified,
        loadBlobs: (entries) => loadBlobs(facts.folder, entries),
      })),
      records: () => streamRecords(world, location),
    }),
    allowUnreadable,
  );

const streamRecords = async function* (world: World, location: SessionLocation): AsyncGenerator<StoredRecord> {
  const lines = await withProjectFolder(world, location, async (folder) => {
    const file = await folder.openFile(sessionFileName(location.id));
    try {
      return planRepair(await scanFile(file, location.id)).lines;
    } finally {
      await file.close();
    }
  });
  for (const { sequence, at, text } of lines) yield { sequence, at, record: parseRecord(text) };
};

type SearchQuery = {
  readonly words: string;
  readonly limit?: number | undefined;
  readonly onProgress?: (done: number, total: number) => void;
};

const searchSessions = async (
  world: World,
  scope: SessionScope,
  { words, limit = 20, onProgress }: SearchQuery,
): Promise<readonly SessionMatch[]> => {
  const matches: SessionMatch[] = [];
  const files = await findSessionFiles(scope);
  for (const [done, found] of files.entries()) {
    if (matches.length === limit) break;
    onProgress?.(done, files.length);
    // An unreadable session does not hide others.
    const content = await withParsedFile(world, found, async ({ content: read }) => read).catch(() => undefined);
    if (content === undefined) continue;
    const excerpts = findExcerpts(content, words);
    const isTitled = words !== "" && content.title?.toLowerCase().includes(words.toLowerCase()) === true;
    if (excerpts.length > 0 || isTitled) matches.push({ summary: summarizeContent(content, found), excerpts });
  }
  return matches;
};
