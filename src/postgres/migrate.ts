import { SessionError } from "../session/error.ts";
import { runStatement, type SqlDatabase } from "./database.ts";
import { migrations, storeVersion } from "./migrations.ts";

/** The versions of the tables before and after a migration. */
export type MigrationResult = { readonly from: number; readonly to: number };

/**
 * Creates the tables, or brings those of an older version up to date. Each step is one transaction; two programs that
 * migrate at the same time wait for each other. Refuses a database of a newer version, or with another encoding than
 * UTF-8.
 */
export const migrateStore = async (database: SqlDatabase): Promise<MigrationResult> => {
  await checkDatabase(database);
  const from = (await readStoreVersion(database)) ?? 0;
  refuseNewer(from);
  for (let version = from; version < storeVersion; version++)
    await database
      // Several statements without values are one transaction.
      .query(
        `select pg_advisory_xact_lock(7305181); ${migrations[version]} update parley.store set version = ${version + 1};`,
      )
      .catch(async (error: unknown) => {
        // Another program was faster.
        if (((await readStoreVersion(database)) ?? 0) <= version)
          throw new SessionError({ kind: "database", code: "migrate", message: String(error) }, { cause: error });
      });
  return { from, to: storeVersion };
};

/** Fails unless the tables have the version this build needs. */
export const checkStoreVersion = async (database: SqlDatabase): Promise<void> => {
  const version = await readStoreVersion(database);
  if (version === undefined)
    throw new SessionError({
      kind: "database",
      code: "no tables",
      message: 'this database holds no sessions yet; "parley store migrate" creates the tables',
    });
  refuseNewer(version);
  if (version < storeVersion)
    throw new SessionError({
      kind: "database",
      code: `version ${version}`,
      message: `the tables are older than this Parley; "parley store migrate" updates them to version ${storeVersion}`,
    });
};

/** Returns the version of the tables; undefined if there are none. */
export const readStoreVersion = async (database: SqlDatabase): Promise<number | undefined> => {
  const [found] = await runStatement(database, "select to_regclass('parley.store') is not null as is_there");
  if (found?.["is_there"] !== true) return undefined;
  const [row] = await runStatement(database, "select version from parley.store");
  return row === undefined ? undefined : Number(row["version"]);
};

const refuseNewer = (version: number): void => {
  if (version > storeVersion)
    throw new SessionError({
      kind: "database",
      code: `version ${version}`,
      message: `the tables were made by a newer Parley (this one knows version ${storeVersion}); update parley-agent`,
    });
};

const checkDatabase = async (database: SqlDatabase): Promise<void> => {
  const [row] = await runStatement(
    database,
    "select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding",
  );
  if (Number(row?.["version"]) < oldestServer)
    throw new SessionError({
      kind: "database",
      code: "old server",
      message: "sessions need PostgreSQL 13 or later",
    });
  if (row?.["encoding"] !== "UTF8")
    throw new SessionError({
      kind: "database",
      code: "encoding",
      message: `the database has the encoding ${String(row?.["encoding"])}; create one with UTF8`,
    });
};

const oldestServer = 130_000;
