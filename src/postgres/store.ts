import { SessionError } from "../session/error.ts";
import { loadSavedSession, readSessionFile, type ParsedSessionFile, type SavedSession } from "../session/load.ts";
import { parseRecord } from "../session/log/content.ts";
import type { NewRecord, StoredRecord } from "../session/log/record.ts";
import { readWithoutCompacted, type Session } from "../session/session.ts";
import type { NewSession } from "../session/store/create.ts";
import type { Retention } from "../session/store/remove.ts";
import { findExcerpts } from "../session/store/search.ts";
import type { ProjectFilter, ReadSession, SessionMatch, SessionStore } from "../session/store/store.ts";
import { summarizeContent, type SessionSummary } from "../session/store/summary.ts";
import type { World } from "../world/world.ts";
import { loadSessionBlobs, type BlobOwner } from "./blobs.ts";
import { createSessionRow } from "./create.ts";
import { runStatement } from "./database.ts";
import { lostSession, WorkerLease } from "./lease.ts";
import { openRecordFile, readRecordRows, type SessionKey } from "./load.ts";
import { PostgresLog, type CommandMatcher, type SessionClaim } from "./log.ts";
import { claimStatement, releaseStatement } from "./statements.ts";
import { readSummaryRow, summaryColumns, SummaryTracker } from "./summary.ts";

/** Options of the session store on PostgreSQL. */
export type PostgresStoreOptions = BlobOwner & {
  readonly world: Pick<World, "clock" | "random">;
  /** How long a session stays reserved after the last sign of life of its program. Default: 15 seconds. */
  readonly leaseMs?: number;
  /** The cost of a record in US dollars, for the limit of the tenant. */
  readonly costOf?: (record: NewRecord) => number;
};

/** A session store with a lease that has to be closed. */
export type PostgresSessions = SessionStore & {
  /** Gives up the lease. Sessions must be closed before. */
  readonly close: () => Promise<void>;
};

/**
 * Opens the sessions of a tenant in a database, for `openAgent({ sessions })`. Sessions opened for writing belong to this
 * process as long as it gives signs of life; the tables must exist ("parley store migrate").
 */
export const openPostgresSessions = (options: PostgresStoreOptions): PostgresSessions => {
  let opening: Promise<WorkerLease> | undefined;
  const { clock, random } = options.world;
  const lease = async (): Promise<WorkerLease> => {
    const current = await (opening ??= WorkerLease.open(options.database, {
      clock,
      random,
      drives: false,
      ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    }).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
    if (!current.isLost) return current;
    opening = undefined;
    return lease();
  };
  return {
    ...createSessionStore(options, lease),
    close: async () => {
      const current = opening;
      opening = undefined;
      await (await current)?.close();
    },
  };
};

/** The session store of a tenant, with sessions that belong to a lease. */
export const createSessionStore = (options: PostgresStoreOptions, lease: () => Promise<WorkerLease>): SessionStore => {
  const find = (id: string, query?: ProjectFilter): Promise<SessionKey> => findSessionKey(options, id, query);
  const open = async (id: string, query?: ProjectFilter): Promise<Session> => {
    const key = await find(id, query);
    const owner = await lease();
    return openClaimed(options, { ...(await claimSession(options, owner, key)), isLost: () => owner.isLost });
  };
  const create = async (start: NewSession, parent?: string): Promise<Session> => {
    const owner = await lease();
    const claim = await createSessionRow(options, { start, owner: owner.id, parent });
    return openClaimed(options, { ...claim, isLost: () => owner.isLost });
  };
  return {
    list: (query) => listSummaries(options, query),
    create: (start) => create(start),
    createSubagent: (parent, start) => create(start, parent),
    open,
    read: async (id, query) => readStoredSession(options, await find(id, query)),
    search: (words, query) => searchSessions(options, words, query),
    rename: async (id, title, query) => {
      const session = await open(id, query);
      await session.append([{ kind: "title", title }]).finally(session.close);
    },
    remove: async (id, query) => removeStoredSession(options, await find(id, query)),
    prune: (retention) => pruneStored(options, retention),
    examine: async (id, query) => (await readStoredSession(options, await find(id, query))).damage,
    // Records that cannot be read stay where they are; a session is opened without them.
    repair: async (id, query) => (await readStoredSession(options, await find(id, query))).damage,
  };
};

/** A session this process owns. */
export type OwnedSession = SessionClaim & {
  readonly isLost: () => boolean;
  readonly commands?: CommandMatcher;
  /** False if the owner releases the session itself. */
  readonly releases?: boolean;
};

/** A session in the database that is open for writing. */
export type PostgresSession = Session & {
  /** Marks posted commands as taken that need no record. */
  readonly markTaken: (commands: readonly number[]) => Promise<void>;
  /** The sequence number of the last record. */
  readonly sequence: () => number;
};

/** Opens a session that this process owns already. */
export const openClaimed = async (options: PostgresStoreOptions, owned: OwnedSession): Promise<PostgresSession> => {
  const { database, tenant, world, costOf } = options;
  const key = { tenant, id: owned.id };
  const row = await readSessionRow(options, owned.id);
  if (row.fence !== owned.fence) throw lostSession(owned.id);
  const parsed = await readWithoutCompacted(openRecordFile(database, key), { id: owned.id, path: pathOf(key) });
  const saved = await toSavedSession(options, parsed, { id: owned.id, modified: row.modified });
  const log = new PostgresLog({
    ...options,
    claim: owned,
    clock: world.clock,
    sequence: row.sequence,
    entries: parsed.content.entries.length,
    summary: SummaryTracker.of(parsed.content),
    isLost: owned.isLost,
    commands: owned.commands,
    costOf,
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await log.close();
    if (owned.releases !== false && !owned.isLost())
      await runStatement(database, releaseStatement, [tenant, owned.id, owned.fence, false, null]);
  };
  return {
    ...saved,
    highestOmittedCall: parsed.scan.highestOmittedCall,
    records: () => streamStoredRecords(options, key),
    append: (records, onWritten) => log.append(records, onWritten),
    storeBlobs: (blobs) => log.storeBlobs(blobs),
    markTaken: (commands) => log.markTaken(commands),
    sequence: () => log.sequence,
    close: () => (closing ??= close()),
  };
};

/** Makes this process the owner of a session. Throws `busy` if a live one owns it. */
const claimSession = async (
  { database }: PostgresStoreOptions,
  lease: WorkerLease,
  { tenant, id }: SessionKey,
): Promise<SessionClaim> => {
  const [row] = await runStatement(database, claimStatement, [lease.id, tenant, id]);
  if (row === undefined) throw new SessionError({ kind: "not-found", id });
  if (row["fence"] !== null) return { id, fence: Number(row["fence"]) };
  if (row["is_enlisted"] !== true) {
    lease.lose();
    throw lostSession(id);
  }
  throw new SessionError({ kind: "busy", id, by: `worker ${String(row["owner"])}` });
};

/** Finds a session by its id or a unique prefix of it. Subagents' sessions are found by their whole id only. */
const findSessionKey = async (
  { database, tenant }: PostgresStoreOptions,
  prefix: string,
  { root }: ProjectFilter = {},
): Promise<SessionKey> => {
  const rows =
    prefix === ""
      ? []
      : await runStatement(
          database,
          `select id from parley.session where tenant = $1 and id >= $2 and starts_with(id, $2)
            and ($3::text is null or project = $3) and (state <> 'child' or id = $2) order by id <> $2, id limit 6`,
          [tenant, prefix, root ?? null],
        );
  const ids = rows.map((row) => String(row["id"]));
  const [id] = ids;
  if (id === undefined) throw new SessionError({ kind: "not-found", id: prefix });
  if (id !== prefix && ids.length > 1)
    throw new SessionError({ kind: "ambiguous", id: prefix, matches: ids.slice(0, 5) });
  return { tenant, id };
};

const readSessionRow = async (
  { database, tenant }: PostgresStoreOptions,
  id: string,
): Promise<{ readonly fence: number; readonly sequence: number; readonly modified: number }> => {
  const [row] = await runStatement(
    database,
    "select fence, sequence, modified from parley.session where tenant = $1 and id = $2",
    [tenant, id],
  );
  if (row === undefined) throw new SessionError({ kind: "not-found", id });
  return { fence: Number(row["fence"]), sequence: Number(row["sequence"]), modified: Number(row["modified"]) };
};

const toSavedSession = (
  options: PostgresStoreOptions,
  parsed: ParsedSessionFile,
  { id, modified }: { readonly id: string; readonly modified: number },
): Promise<SavedSession> =>
  loadSavedSession(parsed, { id, modified, loadBlobs: (entries) => loadSessionBlobs(options, entries) });

const readStoredSession = async (options: PostgresStoreOptions, key: SessionKey): Promise<ReadSession> => {
  const { modified } = await readSessionRow(options, key.id);
  const file = openRecordFile(options.database, key);
  const parsed = await readSessionFile(file, { id: key.id, path: pathOf(key) });
  return {
    ...(await toSavedSession(options, parsed, { id: key.id, modified })),
    records: () => streamStoredRecords(options, key),
  };
};

const streamStoredRecords = async function* (
  { database }: PostgresStoreOptions,
  key: SessionKey,
): AsyncGenerator<StoredRecord> {
  for await (const { sequence, at, text } of readRecordRows(database, key))
    yield { sequence, at, record: parseRecord(text) };
};

/** Names a session in messages, as a path does for a file. */
const pathOf = ({ tenant, id }: SessionKey): string => `session ${id} of ${tenant}`;

/** Open sessions are listed by their last record, others by when they were closed, which is what the index holds. */
const listSummaries = async (
  { database, tenant }: PostgresStoreOptions,
  { root, limit = 100 }: ProjectFilter & { readonly limit?: number } = {},
): Promise<readonly SessionSummary[]> => {
  const where =
    "tenant = $1 and state <> 'child' and ($2::text is null or project = $2) and summary not like '%\"isUsed\":false%'";
  const rows = await runStatement(
    database,
    `select ${summaryColumns} from (
      (select * from parley.session where ${where} and owner is null order by changed desc limit $3)
      union all (select * from parley.session where ${where} and owner is not null)) s
    order by modified desc, id desc limit $3`,
    [tenant, root ?? null, limit],
  );
  return rows.flatMap((row) => readSummaryRow(row) ?? []);
};

const searchSessions = async (
  options: PostgresStoreOptions,
  words: string,
  query: Parameters<SessionStore["search"]>[1] = {},
): Promise<readonly SessionMatch[]> => {
  const { limit = 20, onProgress, ...filter } = query;
  const summaries = await listSummaries(options, { ...filter, limit: maxSearched });
  const matches: SessionMatch[] = [];
  for (const [done, { id, modified, size }] of summaries.entries()) {
    if (matches.length === limit) break;
    onProgress?.(done, summaries.length);
    const file = openRecordFile(options.database, { tenant: options.tenant, id });
    // An unreadable session does not hide others.
    const parsed = await readSessionFile(file, { id, path: id }).catch(() => undefined);
    if (parsed === undefined) continue;
    const excerpts = findExcerpts(parsed.content, words);
    const isTitled = words !== "" && parsed.content.title?.toLowerCase().includes(words.toLowerCase()) === true;
    if (excerpts.length > 0 || isTitled)
      matches.push({ summary: summarizeContent(parsed.content, { id, size, modified }), excerpts });
  }
  return matches;
};

const maxSearched = 10_000;

/** Removes a session with its records, its subagents and blobs no other session uses. */
const removeStoredSession = async (
  { database, tenant, place }: PostgresStoreOptions,
  { id }: SessionKey,
): Promise<void> => {
  const rows = await runStatement(database, "select place from parley.remove($1, $2)", [tenant, id]);
  if (rows.length === 0) {
    const [row] = await runStatement(database, "select owner from parley.session where tenant = $1 and id = $2", [
      tenant,
      id,
    ]);
    throw new SessionError(
      row === undefined ? { kind: "not-found", id } : { kind: "busy", id, by: `worker ${String(row["owner"])}` },
    );
  }
  for (const row of rows) if (row["place"] !== "") await place?.remove(String(row["place"]));
};

const pruneStored = async (
  options: PostgresStoreOptions,
  { root, maxAge = Infinity, maxCount = Infinity }: Retention & ProjectFilter,
): Promise<readonly string[]> => {
  const { database, tenant, world } = options;
  const rows = await runStatement(
    database,
    `select id, modified from parley.session where tenant = $1 and state in ('idle', 'running')
      and ($2::text is null or project = $2) order by modified desc, id desc`,
    [tenant, root ?? null],
  );
  const cutoff = world.clock.now() - maxAge;
  const removed: string[] = [];
  for (const [index, row] of rows.entries()) {
    if (index < maxCount && Number(row["modified"]) >= cutoff) continue;
    const id = String(row["id"]);
    const isRemoved = await removeStoredSession(options, { tenant, id }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof SessionError && error.failure.kind === "busy") return false;
        throw error;
      },
    );
    if (isRemoved) removed.push(id);
  }
  return removed;
};
