import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importForeignSession, type ImportedSession } from "../../src/foreign/import.ts";
import { listForeignSessions } from "../../src/foreign/list.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { databaseWriters } from "../support/foreign/database-writers.ts";
import { writeSqlite, writeSqliteInLog } from "../support/foreign/sqlite-file.ts";
import { importConversations, sortConversations } from "../support/foreign/conversations.ts";
import { expectedConversations, makeBranchedStory, toldMessages } from "../support/foreign/story.ts";
import { perTier, seedFor } from "../support/tier.ts";

const runs = perTier({ quick: 5, all: 60 });
const tears = perTier({ quick: 8, all: 100 });
let home: string;
beforeEach(() => (home = realpathSync(mkdtempSync(join(tmpdir(), "parley-foreign-")))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe.each(databaseWriters)("the database of %s", (agent, { limits, write }) => {
  const save = (seed: number, change: (bytes: Buffer) => Buffer = (bytes) => bytes): string => {
    const { path, tables } = write(makeBranchedStory(seed, limits), join(home, "app"));
    mkdirSync(dirname(join(home, path)), { recursive: true });
    mkdirSync(join(home, "app"), { recursive: true });
    writeFileSync(join(home, path), change(writeSqlite(tables)));
    return join(home, path);
  };
  const importOnly = async (): Promise<ImportedSession | readonly string[]> => {
    const world = { disk: realWorld().disk, env: {} };
    const { sessions, problems } = await listForeignSessions(world, {
      home,
      folder: join(home, "app"),
      agents: [agent],
    });
    return sessions[0] === undefined ? problems : importForeignSession(world, sessions[0]);
  };

  it("is imported with every word, call, result and image exactly once, in every branch and subagent, and gets no file beside it", async () => {
    for (let index = 0; index < runs; index++) {
      const path = save(seedFor(index));
      const { main, others } = expectedConversations(makeBranchedStory(seedFor(index), limits));
      const world = { disk: realWorld().disk, env: {} };
      expect(await importConversations(world, { home, folder: join(home, "app"), agent })).toEqual({
        main,
        others: sortConversations(others),
      });
      expect(readdirSync(dirname(path))).toEqual([path.slice(dirname(path).length + 1)]);
    }
  });

  it("is read from its write-ahead log if nothing else was written yet", async () => {
    const story = makeBranchedStory(seedFor(2), limits);
    const path = save(seedFor(2));
    const { file, log } = writeSqliteInLog(write(story, join(home, "app")).tables);
    writeFileSync(path, file);
    writeFileSync(`${path}-wal`, log);
    const { main, others } = expectedConversations(story);
    const world = { disk: realWorld().disk, env: {} };
    expect(await importConversations(world, { home, folder: join(home, "app"), agent })).toEqual({
      main,
      others: sortConversations(others),
    });
  });

  it("cut at any place is refused with a message, or read as far as it is whole", async () => {
    for (let tear = 1; tear < tears; tear++) {
      save(seedFor(1), (bytes) => bytes.subarray(0, Math.floor((bytes.length * tear) / tears)));
      const imported = await importOnly().catch((error: Error) => [error.message]);
      if (!("conversation" in imported)) expect(imported.join()).toMatch(/The database is damaged|has no messages/);
    }
  });
});

describe("goose", () => {
  it("repeats the current prompt after a summary; it is imported once, after the summary, and commands of the person not at all", async () => {
    const seen = { userVisible: true, agentVisible: true };
    const replaced = { ...seen, agentVisible: false };
    const hidden = { ...seen, userVisible: false };
    const messages: [role: string, text: string, metadata: object][] = [
      ["user", "old", replaced],
      ["assistant", "older", replaced],
      ["user", "now", replaced],
      ["user", "summary", hidden],
      ["assistant", "Your context was compacted.", hidden],
      ["user", "now", hidden],
      ["assistant", "done", seen],
      ["user", "/model", replaced],
    ];
    const path = join(home, ".local/share/goose/sessions/sessions.db");
    mkdirSync(dirname(path), { recursive: true });
    const rows = messages.map(([role, text, metadata], index) => [
      `m${index}`,
      "s1",
      role,
      JSON.stringify([{ type: "text", text }]),
      JSON.stringify(metadata),
    ]);
    const columns = ["message_id", "session_id", "role", "content_json", "metadata_json"];
    const sessions = { columns: ["id", "working_dir"], rows: [["s1", home]] };
    writeFileSync(path, writeSqlite({ sessions, messages: { columns, rows } }));
    const world = { disk: realWorld().disk, env: {} };
    const { sessions: found } = await listForeignSessions(world, { home, agents: ["goose"] });
    const { conversation, leftOut } = await importForeignSession(world, found[0]!);
    expect(toldMessages(conversation)).toEqual([
      { by: "user", texts: ["old"], images: [] },
      { by: "model", thinking: [], texts: ["older"], calls: [] },
      { by: "user", texts: ["now"], images: [] },
      { by: "summary", text: "summary", kept: 1 },
      { by: "model", thinking: [], texts: ["done"], calls: [] },
    ]);
    expect(leftOut).toEqual([
      { what: "texts the program added", count: 2 },
      { what: "messages the model does not see", count: 1 },
    ]);
  });
});
