import { SessionError } from "../session/error.ts";
import type { SqlDatabase } from "./database.ts";

/** A database with its connections. */
export type OpenDatabase = SqlDatabase & { readonly close: () => Promise<void> };

/** The part of the driver that is used. */
type PgDriver = {
  readonly Pool: new (options: object) => SqlDatabase & {
    readonly on: (event: "error", listener: () => void) => unknown;
    readonly end: () => Promise<void>;
  };
};

/** Opens a pool of connections with the package `pg`, which has to be installed beside this one. */
export const connectDatabase = async (url: string, mostConnections = 16): Promise<OpenDatabase> => {
  const { Pool } = await loadDriver();
  const pool = new Pool({
    connectionString: url,
    max: mostConnections,
    keepAlive: true,
    connectionTimeoutMillis: 5000,
    // A connection without an answer is dropped, and a look at what is stored tells the outcome. A timeout in the server
    // would not do: it acknowledges what a standby has not confirmed.
    query_timeout: 10_000,
    application_name: "parley",
  });
  // An idle connection broke; the next query opens another.
  pool.on("error", () => undefined);
  return { query: (text, values) => pool.query(text, values), close: () => pool.end() };
};

const loadDriver = async (): Promise<PgDriver> => {
  // Not bundled: most installations do without it.
  const name = "pg";
  try {
    const loaded = (await import(name)) as PgDriver & { readonly default?: PgDriver };
    return loaded.default ?? loaded;
  } catch (error) {
    throw new SessionError(
      {
        kind: "database",
        code: "no driver",
        message: 'the package "pg" is not installed; "npm install pg" beside parley-agent (with -g if that is global)',
      },
      { cause: error },
    );
  }
};
