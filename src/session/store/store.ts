import { join } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { parseRecord } from "../log/content.ts";
import { createSessionFile, type NewSession } from "./create.ts";
import { toSessionReadError, toSessionError, SessionError } from "../error.ts";
import type { SessionDamage } from "../repair/damage.ts";
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

/** Which sessions are meant: those of one project, or all. */
export type ProjectFilter = { readonly root?: string };

/** A session where words were found. */
export type SessionMatch = { readonly summary: SessionSummary; readonly excerpts: readonly Excerpt[] };

/** A session that was read, and the way to all of its records. */
export type ReadSession = SavedSession & { readonly records: () => AsyncIterable<StoredRecord> };

/** All sessions there are. Ids may be shortened to what is unique. Everything here throws `SessionError`. */
export type SessionStore = {
  /** Those last used first, `limit` of them. */
  readonly list: (query?: ProjectFilter & { readonly limit?: number }) => Promise<readonly SessionSummary[]>;
  readonly create: (start: NewSession) => Promise<Session>;
  /** Opens a session to go on with it. It heals what is damaged and says so in `healed`. */
  readonly open: (id: string, query?: ProjectFilter) => Promise<Session>;
  /** Reads a session, which somebody else may have open, and changes nothing. */
  readonly read: (id: string, query?: ProjectFilter) => Promise<ReadSession>;
  /** The sessions where words stand, those last used first. */
  readonly search: (
    words: string,
    query?: ProjectFilter & { readonly limit?: number },
  ) => Promise<readonly SessionMatch[]>;
  readonly rename: (id: string, title: string, query?: ProjectFilter) => Promise<void>;
  readonly remove: (id: string, query?: ProjectFilter) => Promise<void>;
  /** Removes what a retention does not keep, and answers with the ids. */
  readonly prune: (retention: Retention & ProjectFilter) => Promise<readonly string[]>;
  /** What `repair` would find. */
  readonly examine: (id: string, query?: ProjectFilter) => Promise<readonly SessionDamage[]>;
  /** Heals a session, even one in which nothing can be read, and keeps aside the bytes it cuts out. */
  readonly repair: (id: string, query?: ProjectFilter) => Promise<readonly SessionDamage[]>;
};

/** The sessions kept below a home folder. */
export const openSessionStore = (world: World, { home }: { readonly home: string }): SessionStore => {
  const base = join(home, "sessions");
  const scopeOf = ({ root }: ProjectFilter = {}): SessionScope => ({ disk: world.disk, base, root });
  const find = (id: string, query?: ProjectFilter): Promise<SessionLocation> =>
    wrapReadErrors(base, findSession(scopeOf(query), id));
  const open = async (id: string, { anything = false, ...query }: OpenSessionOptions = {}): Promise<Session> =>
    wrapWriteErrors(base, openSessionAt(world, await find(id, query), anything));

  return {
    list: (query) => wrapReadErrors(base, listSummaries(scopeOf(query), query?.limit)),
    create: (start) => wrapWriteErrors(base, createSession(world, base, start)),
    open: (id, query) => open(id, query),
    read: async (id, query) => wrapReadErrors(base, readSessionAt(world, await find(id, query))),
    search: (words, query) =>
      wrapReadErrors(base, searchSessions(world, scopeOf(query), { words, limit: query?.limit })),
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
      const place = await find(id, query);
      const session = await open(place.id, { ...query, anything: true });
      await session.close();
      await wrapWriteErrors(
        base,
        withProjectFolder(world, place, (folder) => removeUnusedBlobs(world, folder)),
      );
      return session.damage;
    },
  };
};

type OpenSessionOptions = ProjectFilter & { readonly anything?: boolean };

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
  return openLocked(world, { folder, place: { path: folder.path, id }, release, anything: false });
};

const openSessionAt = async (world: World, place: SessionLocation, anything: boolean): Promise<Session> => {
  const folder = await openFolder(world.disk, place.path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id: place.id });
  const release = await acquireSessionLock(world, folder, place.id).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  return openLocked(world, { folder, place, release, anything });
};

type LockedSessionFile = {
  readonly folder: Folder;
  readonly place: SessionLocation;
  readonly release: ReleaseLock;
  readonly anything: boolean;
};

/** A session on a file that is ours. Closing it lets go of file, lock and folder, in that order. */
const openLocked = async (world: World, { folder, place, release, anything }: LockedSessionFile): Promise<Session> => {
  const { id } = place;
  const desk = {
    id,
    name: sessionFileName(id),
    folder,
    clock: world.clock,
    records: () => streamRecords(world, place),
    anything,
  };
  try {
    // Somebody may have removed it before it was ours.
    if ((await folder.stat(desk.name)) === undefined) throw new SessionError({ kind: "not-found", id });
    const session = await openSessionFile(desk);
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

/** Reads a session's file and works with what it says. */
const withParsedFile = <Result>(
  world: World,
  place: SessionLocation,
  work: (reading: ParsedSessionFile, facts: { readonly folder: Folder; readonly modified: number }) => Promise<Result>,
  anything = false,
): Promise<Result> =>
  withProjectFolder(world, place, async (folder) => {
    const file = await folder.openFile(sessionFileName(place.id));
    try {
      const found = await readSessionFile(file, {
        id: place.id,
        path: `${folder.path}/${sessionFileName(place.id)}`,
        allowUnreadable: anything,
      });
      return await work(found, { folder, modified: (await file.stat()).modified });
    } finally {
      await file.close();
    }
  });

const readSessionAt = (world: World, place: SessionLocation, anything = false): Promise<ReadSession> =>
  withParsedFile(
    world,
    place,
    async (found, facts) => ({
      ...(await loadSavedSession(found, { id: place.id, ...facts })),
      records: () => streamRecords(world, place),
    }),
    anything,
  );

const streamRecords = async function* (world: World, place: SessionLocation): AsyncGenerator<StoredRecord> {
  const lines = await withProjectFolder(world, place, async (folder) => {
    const file = await folder.openFile(sessionFileName(place.id));
    try {
      return planRepair(await scanFile(file, place.id)).lines;
    } finally {
      await file.close();
    }
  });
  for (const { sequence, at, text } of lines) yield { sequence, at, record: parseRecord(text) };
};

type SearchQuery = { readonly words: string; readonly limit: number | undefined };

const searchSessions = async (
  world: World,
  scope: SessionScope,
  { words, limit = 20 }: SearchQuery,
): Promise<readonly SessionMatch[]> => {
  const matches: SessionMatch[] = [];
  for (const found of await findSessionFiles(scope)) {
    if (matches.length === limit) break;
    // One session nobody can read hides no other.
    const content = await withParsedFile(world, found, async ({ content: read }) => read).catch(() => undefined);
    if (content === undefined) continue;
    const excerpts = findExcerpts(content, words);
    const isTitled = words !== "" && content.title?.toLowerCase().includes(words.toLowerCase()) === true;
    if (excerpts.length > 0 || isTitled) matches.push({ summary: summarizeContent(content, found), excerpts });
  }
  return matches;
};
