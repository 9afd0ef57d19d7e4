import { formatVersion } from "../session/log/record.ts";
import { runStatement, type SqlDatabase } from "./database.ts";
import type { SessionKey } from "./load.ts";
import type { SessionClaim } from "./log.ts";
import {
  commandsStatement,
  drivenStatement,
  hasReadyStatement,
  postStatement,
  reapOrphansStatement,
  reapStatement,
  releaseStatement,
  takeStatement,
  unreadStatement,
} from "./statements.ts";

/** The answer to a post. */
export type PostedRow = {
  /** The number of the command; undefined if its key was seen before. */
  readonly id: number | undefined;
  /** The sequence number of the session at that moment. */
  readonly sequence: number;
};

/** Stores a command for a session and wakes it. Undefined if there is no such session. */
export const postCommand = async (
  database: SqlDatabase,
  { tenant, id }: SessionKey,
  { key, command }: { readonly key: string; readonly command: string },
): Promise<PostedRow | undefined> => {
  const [row] = await runStatement(database, postStatement, [tenant, id, key, command]);
  if (row === undefined) return undefined;
  return { id: row["id"] === null ? undefined : Number(row["id"]), sequence: Number(row["sequence"]) };
};

/** A session a worker took. */
export type TakenSession = SessionClaim & {
  readonly tenant: string;
  readonly sequence: number;
  readonly project: string;
  /** How many workers in a row ended while they had it. */
  readonly crashes: number;
};

/** Takes up to `most` ready sessions, fairly between tenants and within their limits. */
export const takeSessions = async (
  database: SqlDatabase,
  worker: string,
  most: number,
): Promise<readonly TakenSession[]> => {
  if ((await runStatement(database, hasReadyStatement)).length === 0) return [];
  const rows = await runStatement(database, takeStatement, [worker, most, formatVersion]);
  return rows.map((row) => ({
    tenant: String(row["tenant"]),
    id: String(row["id"]),
    fence: Number(row["fence"]),
    sequence: Number(row["sequence"]),
    project: String(row["project"]),
    crashes: Number(row["crashes"]),
  }));
};

/** Reads which sessions a worker owns, by the word of the database. */
export const readDrivenSessions = async (
  database: SqlDatabase,
  worker: string,
): Promise<readonly (SessionKey & SessionClaim)[]> =>
  (await runStatement(database, drivenStatement, [worker])).map((row) => ({
    tenant: String(row["tenant"]),
    id: String(row["id"]),
    fence: Number(row["fence"]),
  }));

/** How a session is given back. */
export type ReleaseOptions = {
  /** Whether it waits for a person. */
  readonly isParked?: boolean;
  /** Milliseconds after which it is ready again. */
  readonly wakeAfter?: number;
};

/** Gives a session back. Returns its state: ready again if commands are unread; undefined if it was not ours any more. */
export const releaseSession = async (
  database: SqlDatabase,
  { tenant, id, fence }: SessionKey & SessionClaim,
  { isParked = false, wakeAfter }: ReleaseOptions = {},
): Promise<string | undefined> => {
  const wake = wakeAfter === undefined ? null : wakeAfter / 1000;
  const [row] = await runStatement(database, releaseStatement, [tenant, id, fence, isParked, wake]);
  return row === undefined ? undefined : String(row["state"]);
};

/** A session that was freed from a dead worker. */
export type FreedSession = SessionKey & { readonly state: string; readonly crashes: number };

/** Frees the sessions of dead workers. After `mostCrashes` in a row, a session waits for a person. */
export const reapWorkers = async (database: SqlDatabase, mostCrashes: number): Promise<readonly FreedSession[]> => {
  const rows = [
    ...(await runStatement(database, reapStatement, [mostCrashes])),
    ...(await runStatement(database, reapOrphansStatement, [mostCrashes])),
  ];
  return rows.map((row) => ({
    tenant: String(row["tenant"]),
    id: String(row["id"]),
    state: String(row["state"]),
    crashes: Number(row["crashes"]),
  }));
};

/** A command that is not taken yet. */
export type WaitingCommand = { readonly id: number; readonly command: string };

/** Reads the commands of all sessions of a worker, in order. */
export const readWorkerCommands = async (
  database: SqlDatabase,
  worker: string,
): Promise<readonly (WaitingCommand & { readonly tenant: string; readonly session: string })[]> =>
  (await runStatement(database, commandsStatement, [worker])).map((row) => ({
    tenant: String(row["tenant"]),
    session: String(row["session"]),
    id: Number(row["id"]),
    command: String(row["command"]),
  }));

/** Reads the commands of one session, in order. */
export const readSessionCommands = async (
  database: SqlDatabase,
  { tenant, id }: SessionKey,
): Promise<readonly WaitingCommand[]> =>
  (await runStatement(database, unreadStatement, [tenant, id])).map((row) => ({
    id: Number(row["id"]),
    command: String(row["command"]),
  }));
