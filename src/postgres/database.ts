import { SessionError } from "../session/error.ts";

/** A connection pool for PostgreSQL: a `pg.Pool` fits as it is. Each statement is a transaction of its own. */
export type SqlDatabase = {
  readonly query: (text: string, values?: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;
};

/** One row of a result, by column. */
export type Row = { readonly [column: string]: unknown };

/** Runs a statement and returns its rows. Errors of the database become a `SessionError`. */
export const runStatement = async (
  database: SqlDatabase,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> => {
  try {
    return (await database.query(text, values)).rows as readonly Row[];
  } catch (error) {
    throw toDatabaseError(error);
  }
};

/** Converts any error of a driver to a `SessionError`. */
export const toDatabaseError = (error: unknown): SessionError =>
  error instanceof SessionError
    ? error
    : new SessionError(
        { kind: "database", code: readCode(error) ?? "no code", message: readMessage(error) },
        { cause: error },
      );

/**
 * Whether the connection failed, so that the outcome of the statement is unknown, or the database is starting or
 * stopping. Such a statement is sent again after a look at what is stored.
 */
export const isConnectionFailure = (error: unknown): boolean => {
  const cause = error instanceof SessionError ? error.cause : error;
  const code = readCode(cause);
  // Drivers report a connection that broke without a code of SQL: as a code of the system, or as a message only.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || code === "EPIPE") return true;
  return /^(08|57P0|53300)/.test(code);
};

const readCode = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

const readMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
