import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { storeVersion } from "../../src/postgres/migrations.ts";
import { openPostgresSessions } from "../../src/postgres/store.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import { newSessionFromConversation } from "../../src/session/store/create.ts";
import { exportConversation } from "../../src/session/export/conversation.ts";
import { blobs, conversation, picture, root, userRecord } from "../../src/session/session.cases.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { runCommand } from "../support/run-command.ts";
import type { Ran } from "../built.ts";

describeOnPostgres("parley store", () => {
  let database: TestDatabase;
  let folder: string;
  const world = realWorld();
  beforeAll(async () => {
    database = await openTestDatabase(undefined, { isMigrated: false });
    folder = await mkdtemp(join(tmpdir(), "parley-store-"));
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = (...args: readonly string[]): Promise<Ran> =>
    runCommand(["store", ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, PARLEY_HOME: join(folder, "home"), PARLEY_STORE: database.url },
    });
  const readTree = async (path: string): Promise<Readonly<Record<string, string>>> => {
    const files = await readdir(path, { recursive: true, withFileTypes: true });
    const entries = files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .filter((name) => !name.includes("/locks/"));
    return Object.fromEntries(
      await Promise.all(
        entries.map(async (name) => [name.slice(path.length + 1), (await readFile(name)).toString("base64")] as const),
      ),
    );
  };

  it("says what to do before there are tables, and creates them once", async () => {
    const before = await run("check");
    expect(before.code).toBe(1);
    expect(before.err).toContain('"parley store migrate" creates the tables');
    expect(await run("migrate")).toEqual({ code: 0, out: `The tables are now at version ${storeVersion}.\n`, err: "" });
    expect((await run("migrate")).out).toBe(`The tables are up to date (version ${storeVersion}).\n`);
    await database.pool.query("update parley.store set version = 99");
    for (const action of ["migrate", "check"]) {
      const newer = await run(action);
      expect(newer.code).toBe(1);
      expect(newer.err).toContain("made by a newer Parley");
    }
    await database.pool.query(`update parley.store set version = ${storeVersion}`);
  });

  it("imports session files and exports the same bytes", async () => {
    const files = openSessionStore(world, { home: join(folder, "home") });
    const session = await files.create(newSessionFromConversation(conversation(), { root, title: "Cats" }));
    await session.append([userRecord("Line\n\u0000 \ud800 é 🐈")]);
    await session.close();
    const other = await files.create({ root: "/elsewhere" });
    await other.append([userRecord("Hello")]);
    await other.close();

    expect((await run("import")).out).toBe("2 sessions imported, 0 already there, 0 failed.\n");
    expect((await run("import")).out).toBe("0 sessions imported, 2 already there, 0 failed.\n");
    expect((await run("export", "--output", "out")).out).toBe("2 sessions exported to out.\n");
    expect(await readTree(join(folder, "out"))).toEqual(await readTree(join(folder, "home", "sessions")));
    const printed = await run("export", other.id);
    expect(Buffer.from(printed.out)).toEqual(
      await readFile(
        join(
          folder,
          "out",
          (await readdir(join(folder, "out"))).find((name) => name.startsWith("else"))!,
          `${other.id}.jsonl`,
        ),
      ),
    );
    expect((await run("check")).out).toBe("2 sessions checked, all in order.\n");
  });

  it("exports a session written in the database as the file store would have written it", async () => {
    const sessions = openPostgresSessions({ database: database.pool, tenant: "acme", world });
    const session = await sessions.create({ root, system: "Be brief." });
    await session.storeBlobs(blobs);
    await session.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
    await session.append([{ kind: "title", title: "Cat" }, userRecord("And now?")]);
    await session.close();
    await sessions.close();
    const home = join(folder, "acme");
    await run("export", "--tenant", "acme", "--output", join(home, "sessions"));

    const files = openSessionStore(world, { home });
    const read = await files.read(session.id);
    expect(read.damage).toEqual([]);
    expect(exportConversation(read).blobs).toEqual(blobs);
    // The file store writes the same records at the same times as the same bytes, so it can continue the file.
    const opened = await files.open(session.id);
    expect([opened.damage, opened.size]).toEqual([[], read.size]);
    await opened.close();
    expect((await run("export", session.id, "--tenant", "local")).code).toBe(1);
  });

  it("finds damage, and says where", async () => {
    await database.pool.query("update parley.record set body = replace(body, 'Hello', 'Jello')");
    const checked = await run("check");
    expect(checked.code).toBe(1);
    expect(checked.out).toMatch(
      /^local [0-9a-z]{10}: record 2 does not match its checksum\n3 sessions checked, 1 problem\.\n$/,
    );
    await database.pool.query("update parley.record set body = replace(body, 'Jello', 'Hello')");
  });

  it("archives old sessions: verified files, then no rows", async () => {
    expect((await run("archive", "--older-than", "1", "--output", "old")).out).toBe("0 sessions archived in old.\n");
    expect((await run("archive", "--older-than", "0", "--output", "old")).out).toBe("2 sessions archived in old.\n");
    expect(await readTree(join(folder, "old"))).toEqual(await readTree(join(folder, "home", "sessions")));
    const { rows } = await database.pool.query("select tenant from parley.session");
    expect(rows).toEqual([{ tenant: "acme" }]);
    expect((await database.pool.query("select tenant from parley.blob")).rows).toEqual([{ tenant: "acme" }]);
  });

  it("shows and sets the limits of a tenant", async () => {
    expect((await run("tenant", "acme")).out).toBe(
      "acme: at most 100 sessions at once; spent $0.0000, without a limit.\n",
    );
    expect((await run("tenant", "acme", "--most-running", "2", "--spend", "5")).out).toBe(
      "acme: at most 2 sessions at once; spent $0.0000 of $5.00.\n",
    );
  });

  it("shows and sets the request rate of a provider", async () => {
    expect((await run("limit")).out).toBe("All providers: no limit.\n");
    expect((await run("limit", "anthropic", "--per-minute", "120")).out).toBe(
      "anthropic: 120 requests a minute for each key, 20 at once.\n",
    );
    expect((await run("limit", "--json")).out).toContain('"burst": 20');
    expect((await run("limit", "anthropic", "--per-minute", "0")).out).toBe("anthropic: no limit.\n");
  });

  it.each([
    [["limit", "--per-minute", "5"], "Missing the provider"],
    [["limit", "anthropic", "--per-minute", "many"], "--per-minute must be a number"],
    [["fly"], 'Unknown action "fly" for store.'],
    [["archive", "--output", "x"], "Missing --older-than DAYS"],
    [["export"], "Missing --output FOLDER"],
    [["check", "--store", "mysql://x"], "postgres://USER:PASSWORD@HOST/NAME"],
  ])("refuses wrong usage: %j", async (args, message) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it("says that the database cannot be reached, without its password", async () => {
    const { code, err } = await run("check", "--store", "postgres://parley:secret@127.0.0.1:1/none");
    expect(code).toBe(1);
    expect(err).toContain("Check that it runs and can be reached");
    expect(err).not.toContain("secret");
  });
});
