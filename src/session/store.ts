import { join } from "node:path";
import type { Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { recordIn } from "./content.ts";
import { createFile, type NewSession } from "./create.ts";
import { asReadError, asSessionError, SessionError } from "./error.ts";
import type { Finding } from "./finding.ts";
import { folderAt, within } from "./folders.ts";
import { foundIn, summaryAt } from "./list.ts";
import { readFile, savedFrom, type Reading, type Saved } from "./load.ts";
import { mend } from "./mend.ts";
import { occupy, type Release } from "./occupy.ts";
import { fileName, findSession, type Place, type Scope } from "./place.ts";
import type { Written } from "./record.ts";
import { pruneSessions, removeSession, type Retention } from "./remove.ts";
import { scanFile } from "./scan.ts";
import { excerptsOf, type Excerpt } from "./search.ts";
import { startSession, type Session } from "./session.ts";
import { summarise, type Summary } from "./summary.ts";
import { sweep } from "./sweep.ts";

/** Which sessions are meant: those of one project, or all. */
export type InProject = { readonly root?: string };

/** A session where words were found. */
export type Match = { readonly summary: Summary; readonly excerpts: readonly Excerpt[] };

/** A session that was read, and the way to all of its records. */
export type ReadSession = Saved & { readonly records: () => AsyncIterable<Written> };

/** All sessions there are. Ids may be shortened to what is unique. Everything here throws `SessionError`. */
export type Sessions = {
  /** Those last used first, `limit` of them. */
  readonly list: (query?: InProject & { readonly limit?: number }) => Promise<readonly Summary[]>;
  readonly create: (start: NewSession) => Promise<Session>;
  /** Opens a session to go on with it. It heals what is damaged and says so in `healed`. */
  readonly open: (id: string, query?: InProject) => Promise<Session>;
  /** Reads a session, which somebody else may have open, and changes nothing. */
  readonly read: (id: string, query?: InProject) => Promise<ReadSession>;
  /** The sessions where words stand, those last used first. */
  readonly search: (words: string, query?: InProject & { readonly limit?: number }) => Promise<readonly Match[]>;
  readonly rename: (id: string, title: string, query?: InProject) => Promise<void>;
  readonly remove: (id: string, query?: InProject) => Promise<void>;
  /** Removes what a retention does not keep, and answers with the ids. */
  readonly prune: (retention: Retention & InProject) => Promise<readonly string[]>;
  /** What `repair` would find. */
  readonly examine: (id: string, query?: InProject) => Promise<readonly Finding[]>;
  /** Heals a session, even one in which nothing can be read, and keeps aside the bytes it cuts out. */
  readonly repair: (id: string, query?: InProject) => Promise<readonly Finding[]>;
};

/** The sessions kept below a home folder. */
export const openSessions = (world: World, { home }: { readonly home: string }): Sessions => {
  const base = join(home, "sessions");
  const scopeOf = ({ root }: InProject = {}): Scope => ({ disk: world.disk, base, root });
  const find = (id: string, query?: InProject): Promise<Place> => reading(base, findSession(scopeOf(query), id));
  const open = async (id: string, { anything = false, ...query }: Opening = {}): Promise<Session> =>
    writing(base, openPlace(world, await find(id, query), anything));

  return {
    list: (query) => reading(base, list(scopeOf(query), query?.limit)),
    create: (start) => writing(base, create(world, base, start)),
    open: (id, query) => open(id, query),
    read: async (id, query) => reading(base, readPlace(world, await find(id, query))),
    search: (words, query) => reading(base, search(world, scopeOf(query), { words, limit: query?.limit })),
    rename: async (id, title, query) => {
      const session = await open(id, query);
      await session.write([{ kind: "title", title }]).finally(session.close);
    },
    remove: async (id, query) => writing(base, removeSession(world, home, await find(id, query))),
    prune: ({ root, ...retention }) =>
      writing(base, pruneSessions(world, { ...scopeOf(withRoot(root)), home }, retention)),
    examine: async (id, query) => (await reading(base, readPlace(world, await find(id, query), true))).healed,
    repair: async (id, query) => {
      const place = await find(id, query);
      const session = await open(place.id, { ...query, anything: true });
      await session.close();
      await writing(
        base,
        inProject(world, place, (folder) => sweep(world, folder)),
      );
      return session.healed;
    },
  };
};

type Opening = InProject & { readonly anything?: boolean };

const withRoot = (root: string | undefined): InProject => (root === undefined ? {} : { root });

const reading = <Result>(path: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw asReadError(error, path);
  });

const writing = <Result>(path: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw asSessionError(error, path);
  });

const list = async (scope: Scope, limit = 100): Promise<readonly Summary[]> => {
  const summaries: Summary[] = [];
  for (const found of await foundIn(scope)) {
    if (summaries.length === limit) break;
    const summary = await summaryAt(scope, found);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries;
};

const create = async (world: World, base: string, start: NewSession): Promise<Session> => {
  const { folder, id, release } = await createFile(world, base, start);
  return startedIn(world, { folder, place: { path: folder.path, id }, release, anything: false });
};

const openPlace = async (world: World, place: Place, anything: boolean): Promise<Session> => {
  const folder = await folderAt(world.disk, place.path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id: place.id });
  const release = await occupy(world, folder, place.id).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  return startedIn(world, { folder, place, release, anything });
};

type Taken = { readonly folder: Folder; readonly place: Place; readonly release: Release; readonly anything: boolean };

/** A session on a file that is ours. Closing it lets go of file, lock and folder, in that order. */
const startedIn = async (world: World, { folder, place, release, anything }: Taken): Promise<Session> => {
  const { id } = place;
  const desk = { id, name: fileName(id), folder, clock: world.clock, records: () => recordsAt(world, place), anything };
  try {
    // Somebody may have removed it before it was ours.
    if ((await folder.look(desk.name)) === undefined) throw new SessionError({ kind: "not-found", id });
    const session = await startSession(desk);
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

const inProject = async <Result>(
  world: World,
  { path, id }: Place,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  const folder = await folderAt(world.disk, path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id });
  return within(folder, work);
};

/** Reads a session's file and works with what it says. */
const inFile = <Result>(
  world: World,
  place: Place,
  work: (reading: Reading, facts: { readonly folder: Folder; readonly modified: number }) => Promise<Result>,
  anything = false,
): Promise<Result> =>
  inProject(world, place, async (folder) => {
    const file = await folder.file(fileName(place.id));
    try {
      const found = await readFile(file, { id: place.id, path: `${folder.path}/${fileName(place.id)}`, anything });
      return await work(found, { folder, modified: (await file.look()).modified });
    } finally {
      await file.close();
    }
  });

const readPlace = (world: World, place: Place, anything = false): Promise<ReadSession> =>
  inFile(
    world,
    place,
    async (found, facts) => ({
      ...(await savedFrom(found, { id: place.id, ...facts })),
      records: () => recordsAt(world, place),
    }),
    anything,
  );

const recordsAt = async function* (world: World, place: Place): AsyncGenerator<Written> {
  const lines = await inProject(world, place, async (folder) => {
    const file = await folder.file(fileName(place.id));
    try {
      return mend(await scanFile(file, place.id)).lines;
    } finally {
      await file.close();
    }
  });
  for (const { sequence, at, text } of lines) yield { sequence, at, record: recordIn(text) };
};

type Query = { readonly words: string; readonly limit: number | undefined };

const search = async (world: World, scope: Scope, { words, limit = 20 }: Query): Promise<readonly Match[]> => {
  const matches: Match[] = [];
  for (const found of await foundIn(scope)) {
    if (matches.length === limit) break;
    // One session nobody can read hides no other.
    const content = await inFile(world, found, async ({ content: read }) => read).catch(() => undefined);
    if (content === undefined) continue;
    const excerpts = excerptsOf(content, words);
    const isTitled = words !== "" && content.title?.toLowerCase().includes(words.toLowerCase()) === true;
    if (excerpts.length > 0 || isTitled) matches.push({ summary: summarise(content, found), excerpts });
  }
  return matches;
};
