import { describe, expect, it } from "vitest";
import { createTempName } from "../../world/file-names.ts";
import { newSessionFromConversation } from "./create.ts";
import type { SessionError } from "../error.ts";
import { exportConversation } from "../export/conversation.ts";
import { summarizeSession } from "./summary.ts";
import {
  blobs,
  conversation,
  userRecord,
  findSessionFile,
  home,
  startTime,
  createSessionFixture,
  picture,
  root,
  userEntry,
  listEntryTexts,
  createClosedSession,
} from "../session.cases.ts";
import { itInAll } from "../../../test/support/tier.ts";

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error as SessionError).failure,
  );
const filesIn = (tree: object): readonly string[] => Object.keys(tree).map((path) => path.slice(home.length));

describe("saved sessions", () => {
  it("are in a folder of their project, readable by their owner only", async () => {
    const fixture = createSessionFixture();
    const session = await fixture.sessions.create(newSessionFromConversation(conversation(), { root }));
    const project = "/sessions/home-someone-code-app-85fc4fc7";

    expect(filesIn(fixture.disk.snapshot()).filter((path) => !path.includes("/locks/"))).toEqual([
      `${project}/blobs/${picture.blob.hash}`,
      `${project}/${session.id}.jsonl`,
    ]);
    const folder = await fixture.disk.openFolder(`${home}${project}`);
    const stores = await Promise.all([
      folder.statSelf(),
      folder.stat(`${session.id}.jsonl`),
      folder.stat("blobs"),
      (await folder.openFolder("blobs")).stat(picture.blob.hash),
    ]);
    expect(stores.map((found) => found?.mode.toString(8))).toEqual(["700", "600", "700", "600"]);
  });

  it("return everything that was stored: head, entries, blobs, title, model, tools and request records", async () => {
    const fixture = createSessionFixture();
    const model = { provider: "anthropic", model: "claude-sonnet-5" };
    const session = await fixture.sessions.create(newSessionFromConversation(conversation(), { root, model }));
    const report = { kind: "request", turn: 1, ...model, usage: { input: 3 }, notes: [], digest: "d" } as const;
    const changed = { kind: "model", provider: "openai", model: "gpt-5.6", reason: "asked for" } as const;
    const tools = [{ name: "other" }];
    await session.append([report, changed, { kind: "tools", tools }, { kind: "title", title: "Cats" }]);
    await session.close();
    const { records: recordsOf, ...data } = await fixture.sessions.read(session.id);

    expect(data).toEqual({
      id: session.id,
      head: {
        kind: "head",
        version: 1,
        id: session.id,
        created: startTime,
        root,
        system: "Be brief.",
        tools: [{ name: "screenshot" }],
        model,
      },
      entries: conversation().entries,
      blobs,
      title: "Cats",
      model: { provider: "openai", model: "gpt-5.6" },
      tools,
      damage: [],
      size: findSessionFile(fixture.disk, session.id).text.length,
      modified: startTime,
    });
    const records = [];
    for await (const record of recordsOf()) records.push(record);
    expect(records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(records.slice(-4).map(({ record }) => record)).toEqual([
      report,
      changed,
      { kind: "tools", tools },
      { kind: "title", title: "Cats" },
    ]);
    expect(exportConversation(data)).toEqual({ ...conversation(), tools });
  });

  it("have ids that sort by time, and can be opened by a unique prefix", async () => {
    const fixture = createSessionFixture();
    const ids: string[] = [];
    for (let day = 0; day < 3; day++) {
      ids.push(await createClosedSession(fixture, [`day ${day}`]));
      fixture.world.shiftWallClock(86_400_000);
    }
    const [first = "", second = ""] = ids;
    const unique = Array.from(second, (_, index) => second.slice(0, index + 1)).find(
      (start) => ids.filter((id) => id.startsWith(start)).length === 1,
    );

    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every((id) => /^[0-9a-hjkmnp-tv-z]{10}$/.test(id))).toBe(true);
    expect(listEntryTexts(await fixture.sessions.read(unique ?? ""))).toEqual(["day 1"]);
    expect(await failureOf(fixture.sessions.open(first.slice(0, 1)))).toEqual({
      kind: "ambiguous",
      id: first.slice(0, 1),
      matches: ids.toReversed(),
    });
    expect(await failureOf(fixture.sessions.open("nope"))).toEqual({ kind: "not-found", id: "nope" });
    expect(await failureOf(fixture.sessions.open(""))).toEqual({ kind: "not-found", id: "" });
  });

  it("are separate by project, and can be found across projects", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["here"]);
    const other = await fixture.sessions.create({ root: "/elsewhere", records: [userRecord("there")] });

    expect((await fixture.sessions.list({ root })).map((summary) => summary.id)).toEqual([id]);
    expect(await fixture.sessions.list({ root: "/nowhere" })).toEqual([]);
    expect((await fixture.sessions.list()).length).toBe(2);
    expect(await failureOf(fixture.sessions.read(other.id, { root }))).toEqual({ kind: "not-found", id: other.id });
    expect(listEntryTexts(await fixture.sessions.read(other.id))).toEqual(["there"]);
  });

  it("have one writer at a time, and any number of readers", async () => {
    const fixture = createSessionFixture();
    const session = await fixture.sessions.create({ root, records: [userRecord("one")] });
    const busy = { kind: "busy", id: session.id, by: "process 1" };

    expect(
      await Promise.all([
        failureOf(fixture.sessions.open(session.id)),
        failureOf(fixture.sessions.remove(session.id)),
        failureOf(fixture.sessions.rename(session.id, "x")),
      ]),
    ).toEqual([busy, busy, busy]);
    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual(["one"]);
    await session.close();
    await (await fixture.sessions.open(session.id)).close();
  });

  it("are unlocked when the process that held the lock has ended", async () => {
    const fixture = createSessionFixture({ me: "77-12" });
    const session = await fixture.sessions.create({ root, records: [userRecord("one")] });
    const next = createSessionFixture({ me: "77-13", disk: fixture.disk });
    const taken = await next.sessions.open(session.id);

    expect(listEntryTexts(taken)).toEqual(["one"]);
    await taken.close();
    expect(
      Object.keys(fixture.disk.snapshot()).filter((path) => path.includes("/locks/") && !path.endsWith("/locks/")),
    ).toEqual([]);
  });

  it("are listed with a summary, most recently used first", async () => {
    const fixture = createSessionFixture();
    const first = await fixture.sessions.create(newSessionFromConversation(conversation(), { root }));
    await first.close();
    fixture.world.shiftWallClock(1000);
    const second = await createClosedSession(fixture, ["  Please\nfix   this. " + "x".repeat(100)]);
    fixture.world.shiftWallClock(1000);
    await fixture.sessions.rename(first.id, "Cats");

    expect(await fixture.sessions.list()).toEqual([
      {
        id: first.id,
        root,
        title: "Cats",
        models: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"],
        turns: 1,
        size: findSessionFile(fixture.disk, first.id).text.length,
        created: startTime,
        modified: startTime + 2000,
      },
      {
        id: second,
        root,
        title: `Please fix this. ${"x".repeat(62)}…`,
        models: [],
        turns: 1,
        size: findSessionFile(fixture.disk, second).text.length,
        created: startTime + 1000,
        modified: startTime + 1000,
      },
    ]);
    expect((await fixture.sessions.list({ limit: 1 })).map(({ id }) => id)).toEqual([first.id]);
    expect(summarizeSession(await fixture.sessions.read(second))).toEqual((await fixture.sessions.list())[1]);
  });

  it("are listed without reading the middle of long files, whatever the damage", async () => {
    const fixture = createSessionFixture();
    const session = await fixture.sessions.create({ root, records: [userRecord("How are you?")] });
    for (let turn = 0; turn < 30; turn++) await session.append([userRecord("y".repeat(50_000))]);
    await session.append([{ kind: "title", title: "Long" }]);
    await session.close();
    fixture.disk.seed(`${findSessionFile(fixture.disk, session.id).path.replace(session.id, "0000000000")}`, {
      kind: "file",
      text: "junk",
    });
    const [long, junk] = await fixture.sessions.list();

    expect(long).toEqual({
      id: session.id,
      root,
      title: "Long",
      models: [],
      size: findSessionFile(fixture.disk, session.id).text.length,
      created: startTime,
      modified: startTime,
    });
    expect(junk).toMatchObject({ id: "0000000000", title: "", root: "" });
  });

  it("can be searched, ignoring case", async () => {
    const fixture = createSessionFixture();
    const cats = await fixture.sessions.create(newSessionFromConversation(conversation(), { root }));
    fixture.world.shiftWallClock(1000);
    const dogs = await createClosedSession(fixture, [
      `${"a ".repeat(60)}The DOGS of war${" b".repeat(60)}`,
      "dogs",
      "dogs",
      "dogs",
    ]);
    const found = async (words: string): Promise<readonly string[]> =>
      (await fixture.sessions.search(words)).map(({ summary }) => summary.id);

    expect(await found("a cat")).toEqual([cats.id]);
    expect(await found("SCREENSHOT")).toEqual([cats.id]);
    expect(await found("a")).toEqual([dogs, cats.id]);
    expect(await found("")).toEqual([]);
    const [match] = await fixture.sessions.search("dogs of");
    expect(match?.excerpts).toEqual([
      { entry: 0, who: "user", text: `…${"a ".repeat(28)}The DOGS of war${" b".repeat(28)}…` },
    ]);
    expect((await fixture.sessions.search("dogs"))[0]?.excerpts.length).toBe(3);
    await fixture.sessions.rename(dogs, "Peace");
    expect(await found("peace")).toEqual([dogs]);
  });

  itInAll("are all listed, found and pruned, however many there are", async () => {
    const fixture = createSessionFixture();
    const first = await createClosedSession(fixture, ["The oldest words."]);
    const { path, text: log } = findSessionFile(fixture.disk, first);
    const copies = Array.from({ length: 1100 }, (_, index) => `zzzz${String(index).padStart(6, "0")}`);
    for (const id of copies)
      fixture.disk.seed(path.replace(first, id), { kind: "file", text: log.replaceAll("oldest", "newer") });
    expect((await fixture.sessions.list({ limit: 5000 })).length).toBe(1101);
    expect((await fixture.sessions.search("the oldest")).map(({ summary }) => summary.id)).toEqual([first]);
    expect((await fixture.sessions.prune({ maxCount: 50 })).length).toBe(1051);
  });

  it("are removed with their files; blobs are removed with the last session that uses them", async () => {
    const fixture = createSessionFixture();
    const saved = (): Promise<string> =>
      fixture.sessions
        .create(newSessionFromConversation(conversation(), { root }))
        .then(async ({ id, close }) => (await close(), id));
    const [one, two] = [await saved(), await saved()];
    const { path } = findSessionFile(fixture.disk, one);
    fixture.disk.seed(`${path}.damaged-1`, { kind: "file", text: "old" });
    fixture.disk.seed(path.replace(`${one}.jsonl`, createTempName()), { kind: "file", text: "half" });
    const blob = path.replace(`${one}.jsonl`, `blobs/${picture.blob.hash}`);
    await fixture.sessions.remove(one);
    expect(filesIn(fixture.disk.snapshot()).filter((name) => /jsonl|tmp/.test(name))).toEqual([
      findSessionFile(fixture.disk, two).path.slice(home.length),
    ]);
    expect(fixture.disk.snapshot()[blob]).toBeDefined();
    await fixture.sessions.remove(two);

    expect(fixture.disk.snapshot()[blob]).toBeUndefined();
    expect(await failureOf(fixture.sessions.remove(two))).toEqual({ kind: "not-found", id: two });
  });

  it("are removed with their side files, as are side files of missing sessions; open sessions keep theirs", async () => {
    const fixture = createSessionFixture();
    const [removed, pruned, kept] = [
      await createClosedSession(fixture, ["one"]),
      await createClosedSession(fixture, ["two"]),
      await createClosedSession(fixture, ["three"]),
    ];
    const open = await fixture.sessions.create({ root: "/home/someone/code/other" });
    const lost = await fixture.sessions.create({ root });
    for (const id of [removed, pruned, kept, open.id, lost.id, "gone"]) {
      fixture.disk.seed(`${home}/scratch/${id}/output-1.txt`, { kind: "file", text: "long" });
      fixture.disk.seed(`${home}/snapshots/${id}.json`, { kind: "file", text: "[]" });
    }
    const owners = (): readonly string[] =>
      [
        ...new Set(
          Object.keys(fixture.disk.snapshot()).flatMap(
            (path) => /(?:scratch|snapshots)\/([\w-]+)/.exec(path)?.[1] ?? [],
          ),
        ),
      ].toSorted();
    // Its file is deleted by hand while it is open.
    const folder = await fixture.disk.openFolder(findSessionFile(fixture.disk, lost.id).path.replace(/\/[^/]+$/, ""));
    await folder.remove(`${lost.id}.jsonl`);
    await folder.close();

    await fixture.sessions.remove(removed);
    expect(owners()).toEqual([pruned, kept, open.id, lost.id].toSorted());
    await fixture.sessions.prune({ maxCount: 2 });
    expect(owners()).toEqual([kept, open.id, lost.id].toSorted());
    expect(await failureOf(fixture.sessions.remove(open.id))).toMatchObject({ kind: "busy" });
    await lost.close().catch(() => undefined);
    await fixture.sessions.prune({});
    expect(owners()).toEqual([kept, open.id].toSorted());
    await open.close();
    await fixture.sessions.prune({ maxCount: 0 });
    expect(owners()).toEqual([]);
  });

  it("stay removed after a power loss", async () => {
    const fixture = createSessionFixture();
    await fixture.sessions.remove(await createClosedSession(fixture, ["one"]));
    const after = createSessionFixture({ me: "2-0", disk: fixture.disk.crash(() => 0) });

    expect(await after.sessions.list()).toEqual([]);
  });

  it("can be opened by a full id that is a prefix of another", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["one"]);
    const { path, text } = findSessionFile(fixture.disk, id);
    fixture.disk.seed(path.replace(id, `${id}-copy`), { kind: "file", text, mode: 0o600 });
    await fixture.sessions.rename(id, "The first");

    expect((await fixture.sessions.read(id)).title).toBe("The first");
  });

  it("keep blobs that an open session may be about to use", async () => {
    const fixture = createSessionFixture();
    const one = await fixture.sessions.create(newSessionFromConversation(conversation(), { root }));
    await one.close();
    const two = await fixture.sessions.create({ root });
    await two.storeBlobs(blobs);
    await fixture.sessions.remove(one.id);
    await two.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
    await two.close();

    expect((await fixture.sessions.read(two.id)).blobs).toEqual(blobs);
  });

  it("are pruned by age and by number, except those that are open", async () => {
    const fixture = createSessionFixture();
    const ids: string[] = [];
    for (let day = 0; day < 5; day++) {
      ids.push(await createClosedSession(fixture, [`day ${day}`]));
      fixture.world.shiftWallClock(86_400_000);
    }
    const open = await fixture.sessions.open(ids[0] ?? "");
    expect(await fixture.sessions.prune({ maxCount: 3 })).toEqual([ids[1]]);
    expect(await fixture.sessions.prune({ maxAge: 1.5 * 86_400_000 })).toEqual([ids[3], ids[2]]);
    await open.close();
    expect((await fixture.sessions.list()).map(({ id }) => id)).toEqual([ids[4], ids[0]]);
    expect(await fixture.sessions.prune({})).toEqual([]);
  });

  it("report media whose blobs are missing or changed", async () => {
    const fixture = createSessionFixture();
    const { id, close } = await fixture.sessions.create(newSessionFromConversation(conversation(), { root }));
    await close();
    const blob = findSessionFile(fixture.disk, id).path.replace(`${id}.jsonl`, `blobs/${picture.blob.hash}`);
    const missing = [
      {
        kind: "missing-blob",
        id: picture.media.id,
        hash: picture.blob.hash,
        what: `image ${picture.media.id} "page.png" (image/png)`,
      },
    ];
    fixture.disk.seed(blob, { kind: "file", text: "1234" });
    expect((await fixture.sessions.read(id)).damage).toEqual(missing);
    fixture.disk.removeTree(blob);
    const session = await fixture.sessions.open(id);

    expect({ damage: session.damage, blobs: session.blobs, entries: session.entries }).toEqual({
      damage: missing,
      blobs: {},
      entries: conversation().entries,
    });
    await session.storeBlobs(blobs);
    expect((await fixture.sessions.read(id)).damage).toEqual([]);
  });

  it("report a home folder that cannot be written", async () => {
    const fixture = createSessionFixture();
    fixture.disk.seed(home, { kind: "folder", mode: 0o500 });
    expect(await failureOf(fixture.sessions.create({ root }))).toEqual({
      kind: "read-only",
      path: `${home}/sessions`,
      code: "EACCES",
    });
    expect(await fixture.sessions.list()).toEqual([]);
    fixture.disk.seed(home, { kind: "folder" });
    fixture.failChanges(({ kind }) => (kind === "put" ? { code: "ENOSPC" } : undefined));
    expect(await failureOf(fixture.sessions.create({ root }))).toEqual({ kind: "no-space", path: `${home}/sessions` });
    fixture.failChanges(undefined);
    expect(await fixture.sessions.list()).toEqual([]);
    await (await fixture.sessions.create({ root, records: [{ kind: "entry", entry: userEntry("now") }] })).close();
  });
});
