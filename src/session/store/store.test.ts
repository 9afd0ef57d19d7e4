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

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error as SessionError).failure,
  );
const filesIn = (tree: object): readonly string[] => Object.keys(tree).map((path) => path.slice(home.length));

describe("the sessions", () => {
  it("lie in a folder of their project, readable by their owner alone", async () => {
    const bench = createSessionFixture();
    const session = await bench.sessions.create(newSessionFromConversation(conversation(), { root }));
    const project = "/sessions/home-someone-code-app-85fc4fc7";

    expect(filesIn(bench.disk.snapshot()).filter((path) => !path.includes("/locks/"))).toEqual([
      `${project}/blobs/${picture.blob.hash}`,
      `${project}/${session.id}.jsonl`,
    ]);
    const folder = await bench.disk.openFolder(`${home}${project}`);
    const stores = await Promise.all([
      folder.statSelf(),
      folder.stat(`${session.id}.jsonl`),
      folder.stat("blobs"),
      (await folder.openFolder("blobs")).stat(picture.blob.hash),
    ]);
    expect(stores.map((found) => found?.mode.toString(8))).toEqual(["700", "600", "700", "600"]);
  });

  it("give back all that was put in: head, entries, bytes, title, model, tools and reports", async () => {
    const bench = createSessionFixture();
    const model = { provider: "anthropic", model: "claude-sonnet-5" };
    const session = await bench.sessions.create(newSessionFromConversation(conversation(), { root, model }));
    const report = { kind: "request", turn: 1, ...model, usage: { input: 3 }, notes: [], digest: "d" } as const;
    const changed = { kind: "model", provider: "openai", model: "gpt-5.6", reason: "asked for" } as const;
    const tools = [{ name: "other" }];
    await session.append([report, changed, { kind: "tools", tools }, { kind: "title", title: "Cats" }]);
    await session.close();
    const { records: recordsOf, ...data } = await bench.sessions.read(session.id);

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
      healed: [],
      size: findSessionFile(bench.disk, session.id).text.length,
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

  it("have ids that sort by time, and open by any beginning that is unique", async () => {
    const bench = createSessionFixture();
    const ids: string[] = [];
    for (let day = 0; day < 3; day++) {
      ids.push(await createClosedSession(bench, [`day ${day}`]));
      bench.world.shiftWallClock(86_400_000);
    }
    const [first = "", second = ""] = ids;
    const unique = Array.from(second, (_, index) => second.slice(0, index + 1)).find(
      (start) => ids.filter((id) => id.startsWith(start)).length === 1,
    );

    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every((id) => /^[0-9a-hjkmnp-tv-z]{10}$/.test(id))).toBe(true);
    expect(listEntryTexts(await bench.sessions.read(unique ?? ""))).toEqual(["day 1"]);
    expect(await failureOf(bench.sessions.open(first.slice(0, 1)))).toEqual({
      kind: "ambiguous",
      id: first.slice(0, 1),
      matches: ids.toReversed(),
    });
    expect(await failureOf(bench.sessions.open("nope"))).toEqual({ kind: "not-found", id: "nope" });
    expect(await failureOf(bench.sessions.open(""))).toEqual({ kind: "not-found", id: "" });
  });

  it("are kept apart by project, and found across all", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["here"]);
    const other = await bench.sessions.create({ root: "/elsewhere", records: [userRecord("there")] });

    expect((await bench.sessions.list({ root })).map((summary) => summary.id)).toEqual([id]);
    expect(await bench.sessions.list({ root: "/nowhere" })).toEqual([]);
    expect((await bench.sessions.list()).length).toBe(2);
    expect(await failureOf(bench.sessions.read(other.id, { root }))).toEqual({ kind: "not-found", id: other.id });
    expect(listEntryTexts(await bench.sessions.read(other.id))).toEqual(["there"]);
  });

  it("are one writer's at a time, and anybody's to read", async () => {
    const bench = createSessionFixture();
    const session = await bench.sessions.create({ root, records: [userRecord("one")] });
    const busy = { kind: "busy", id: session.id, pid: 1 };

    expect(
      await Promise.all([
        failureOf(bench.sessions.open(session.id)),
        failureOf(bench.sessions.remove(session.id)),
        failureOf(bench.sessions.rename(session.id, "x")),
      ]),
    ).toEqual([busy, busy, busy]);
    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual(["one"]);
    await session.close();
    await (await bench.sessions.open(session.id)).close();
  });

  it("are free again once the program that had them is gone", async () => {
    const bench = createSessionFixture({ me: "77-12" });
    const session = await bench.sessions.create({ root, records: [userRecord("one")] });
    const next = createSessionFixture({ me: "77-13", disk: bench.disk });
    const taken = await next.sessions.open(session.id);

    expect(listEntryTexts(taken)).toEqual(["one"]);
    await taken.close();
    expect(
      Object.keys(bench.disk.snapshot()).filter((path) => path.includes("/locks/") && !path.endsWith("/locks/")),
    ).toEqual([]);
  });

  it("are listed with what they are about, those last used first", async () => {
    const bench = createSessionFixture();
    const first = await bench.sessions.create(newSessionFromConversation(conversation(), { root }));
    await first.close();
    bench.world.shiftWallClock(1000);
    const second = await createClosedSession(bench, ["  Please\nfix   this. " + "x".repeat(100)]);
    bench.world.shiftWallClock(1000);
    await bench.sessions.rename(first.id, "Cats");

    expect(await bench.sessions.list()).toEqual([
      {
        id: first.id,
        root,
        title: "Cats",
        models: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"],
        turns: 1,
        size: findSessionFile(bench.disk, first.id).text.length,
        created: startTime,
        modified: startTime + 2000,
      },
      {
        id: second,
        root,
        title: `Please fix this. ${"x".repeat(62)}…`,
        models: [],
        turns: 1,
        size: findSessionFile(bench.disk, second).text.length,
        created: startTime + 1000,
        modified: startTime + 1000,
      },
    ]);
    expect((await bench.sessions.list({ limit: 1 })).map(({ id }) => id)).toEqual([first.id]);
    expect(summarizeSession(await bench.sessions.read(second))).toEqual((await bench.sessions.list())[1]);
  });

  it("are listed without their middle when they are long, and whatever is wrong with them", async () => {
    const bench = createSessionFixture();
    const session = await bench.sessions.create({ root, records: [userRecord("How are you?")] });
    for (let turn = 0; turn < 30; turn++) await session.append([userRecord("y".repeat(50_000))]);
    await session.append([{ kind: "title", title: "Long" }]);
    await session.close();
    bench.disk.seed(`${findSessionFile(bench.disk, session.id).path.replace(session.id, "0000000000")}`, {
      kind: "file",
      text: "junk",
    });
    const [long, junk] = await bench.sessions.list();

    expect(long).toEqual({
      id: session.id,
      root,
      title: "Long",
      models: [],
      size: findSessionFile(bench.disk, session.id).text.length,
      created: startTime,
      modified: startTime,
    });
    expect(junk).toMatchObject({ id: "0000000000", title: "", root: "" });
  });

  it("are found by words said in them, in any case", async () => {
    const bench = createSessionFixture();
    const cats = await bench.sessions.create(newSessionFromConversation(conversation(), { root }));
    bench.world.shiftWallClock(1000);
    const dogs = await createClosedSession(bench, [
      `${"a ".repeat(60)}The DOGS of war${" b".repeat(60)}`,
      "dogs",
      "dogs",
      "dogs",
    ]);
    const found = async (words: string): Promise<readonly string[]> =>
      (await bench.sessions.search(words)).map(({ summary }) => summary.id);

    expect(await found("a cat")).toEqual([cats.id]);
    expect(await found("SCREENSHOT")).toEqual([cats.id]);
    expect(await found("a")).toEqual([dogs, cats.id]);
    expect(await found("")).toEqual([]);
    const [match] = await bench.sessions.search("dogs of");
    expect(match?.excerpts).toEqual([
      { entry: 0, who: "user", text: `…${"a ".repeat(28)}The DOGS of war${" b".repeat(28)}…` },
    ]);
    expect((await bench.sessions.search("dogs"))[0]?.excerpts.length).toBe(3);
    await bench.sessions.rename(dogs, "Peace");
    expect(await found("peace")).toEqual([dogs]);
  });

  it("are all listed, found and pruned, however many a folder has", async () => {
    const bench = createSessionFixture();
    const first = await createClosedSession(bench, ["The oldest words."]);
    const { path, text: log } = findSessionFile(bench.disk, first);
    const copies = Array.from({ length: 1100 }, (_, index) => `zzzz${String(index).padStart(6, "0")}`);
    for (const id of copies)
      bench.disk.seed(path.replace(first, id), { kind: "file", text: log.replaceAll("oldest", "newer") });
    expect((await bench.sessions.list({ limit: 5000 })).length).toBe(1101);
    expect((await bench.sessions.search("the oldest")).map(({ summary }) => summary.id)).toEqual([first]);
    expect((await bench.sessions.prune({ maxCount: 50 })).length).toBe(1051);
  });

  it("go with all that was theirs, and bytes go with the last that names them", async () => {
    const bench = createSessionFixture();
    const saved = (): Promise<string> =>
      bench.sessions
        .create(newSessionFromConversation(conversation(), { root }))
        .then(async ({ id, close }) => (await close(), id));
    const [one, two] = [await saved(), await saved()];
    const { path } = findSessionFile(bench.disk, one);
    bench.disk.seed(`${path}.damaged-1`, { kind: "file", text: "old" });
    bench.disk.seed(path.replace(`${one}.jsonl`, createTempName()), { kind: "file", text: "half" });
    const blob = path.replace(`${one}.jsonl`, `blobs/${picture.blob.hash}`);
    await bench.sessions.remove(one);
    expect(filesIn(bench.disk.snapshot()).filter((name) => /jsonl|tmp/.test(name))).toEqual([
      findSessionFile(bench.disk, two).path.slice(home.length),
    ]);
    expect(bench.disk.snapshot()[blob]).toBeDefined();
    await bench.sessions.remove(two);

    expect(bench.disk.snapshot()[blob]).toBeUndefined();
    expect(await failureOf(bench.sessions.remove(two))).toEqual({ kind: "not-found", id: two });
  });

  it("go with the long texts and snapshots kept for them, as do those of sessions that are gone; open ones keep theirs", async () => {
    const bench = createSessionFixture();
    const [removed, pruned, kept] = [
      await createClosedSession(bench, ["one"]),
      await createClosedSession(bench, ["two"]),
      await createClosedSession(bench, ["three"]),
    ];
    const open = await bench.sessions.create({ root: "/home/someone/code/other" });
    const lost = await bench.sessions.create({ root });
    for (const id of [removed, pruned, kept, open.id, lost.id, "gone"]) {
      bench.disk.seed(`${home}/scratch/${id}/output-1.txt`, { kind: "file", text: "long" });
      bench.disk.seed(`${home}/snapshots/${id}.json`, { kind: "file", text: "[]" });
    }
    const owners = (): readonly string[] =>
      [
        ...new Set(
          Object.keys(bench.disk.snapshot()).flatMap((path) => /(?:scratch|snapshots)\/([\w-]+)/.exec(path)?.[1] ?? []),
        ),
      ].toSorted();
    // Somebody removed its file by hand while it is open.
    const folder = await bench.disk.openFolder(findSessionFile(bench.disk, lost.id).path.replace(/\/[^/]+$/, ""));
    await folder.remove(`${lost.id}.jsonl`);
    await folder.close();

    await bench.sessions.remove(removed);
    expect(owners()).toEqual([pruned, kept, open.id, lost.id].toSorted());
    await bench.sessions.prune({ maxCount: 2 });
    expect(owners()).toEqual([kept, open.id, lost.id].toSorted());
    expect(await failureOf(bench.sessions.remove(open.id))).toMatchObject({ kind: "busy" });
    await lost.close().catch(() => undefined);
    await bench.sessions.prune({});
    expect(owners()).toEqual([kept, open.id].toSorted());
    await open.close();
    await bench.sessions.prune({ maxCount: 0 });
    expect(owners()).toEqual([]);
  });

  it("stay removed through a power loss", async () => {
    const bench = createSessionFixture();
    await bench.sessions.remove(await createClosedSession(bench, ["one"]));
    const after = createSessionFixture({ me: "2-0", disk: bench.disk.crash(() => 0) });

    expect(await after.sessions.list()).toEqual([]);
  });

  it("open by their whole id even where another begins with it", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["one"]);
    const { path, text } = findSessionFile(bench.disk, id);
    bench.disk.seed(path.replace(id, `${id}-copy`), { kind: "file", text, mode: 0o600 });
    await bench.sessions.rename(id, "The first");

    expect((await bench.sessions.read(id)).title).toBe("The first");
  });

  it("keep bytes that a session still open may be about to name", async () => {
    const bench = createSessionFixture();
    const one = await bench.sessions.create(newSessionFromConversation(conversation(), { root }));
    await one.close();
    const two = await bench.sessions.create({ root });
    await two.storeBlobs(blobs);
    await bench.sessions.remove(one.id);
    await two.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
    await two.close();

    expect((await bench.sessions.read(two.id)).blobs).toEqual(blobs);
  });

  it("are pruned by age and by number, except those that are open", async () => {
    const bench = createSessionFixture();
    const ids: string[] = [];
    for (let day = 0; day < 5; day++) {
      ids.push(await createClosedSession(bench, [`day ${day}`]));
      bench.world.shiftWallClock(86_400_000);
    }
    const open = await bench.sessions.open(ids[0] ?? "");
    expect(await bench.sessions.prune({ maxCount: 3 })).toEqual([ids[1]]);
    expect(await bench.sessions.prune({ maxAge: 1.5 * 86_400_000 })).toEqual([ids[3], ids[2]]);
    await open.close();
    expect((await bench.sessions.list()).map(({ id }) => id)).toEqual([ids[4], ids[0]]);
    expect(await bench.sessions.prune({})).toEqual([]);
  });

  it("name the files whose bytes are gone or are not what they were", async () => {
    const bench = createSessionFixture();
    const { id, close } = await bench.sessions.create(newSessionFromConversation(conversation(), { root }));
    await close();
    const blob = findSessionFile(bench.disk, id).path.replace(`${id}.jsonl`, `blobs/${picture.blob.hash}`);
    const missing = [
      {
        kind: "missing-blob",
        id: picture.media.id,
        hash: picture.blob.hash,
        what: `image ${picture.media.id} "page.png" (image/png)`,
      },
    ];
    bench.disk.seed(blob, { kind: "file", text: "1234" });
    expect((await bench.sessions.read(id)).damage).toEqual(missing);
    bench.disk.removeTree(blob);
    const session = await bench.sessions.open(id);

    expect({ healed: session.damage, blobs: session.blobs, entries: session.entries }).toEqual({
      healed: missing,
      blobs: {},
      entries: conversation().entries,
    });
    await session.storeBlobs(blobs);
    expect((await bench.sessions.read(id)).damage).toEqual([]);
  });

  it("say so in a home that cannot be written", async () => {
    const bench = createSessionFixture();
    bench.disk.seed(home, { kind: "folder", mode: 0o500 });
    expect(await failureOf(bench.sessions.create({ root }))).toEqual({
      kind: "read-only",
      path: `${home}/sessions`,
      code: "EACCES",
    });
    expect(await bench.sessions.list()).toEqual([]);
    bench.disk.seed(home, { kind: "folder" });
    bench.failChanges(({ kind }) => (kind === "put" ? { code: "ENOSPC" } : undefined));
    expect(await failureOf(bench.sessions.create({ root }))).toEqual({ kind: "no-space", path: `${home}/sessions` });
    bench.failChanges(undefined);
    expect(await bench.sessions.list()).toEqual([]);
    await (await bench.sessions.create({ root, records: [{ kind: "entry", entry: userEntry("now") }] })).close();
  });
});
