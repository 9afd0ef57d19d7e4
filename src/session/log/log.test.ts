import { describe, expect, it } from "vitest";
import type { Text } from "../../conversation/parts.ts";
import type { DiskChange, DiskFault } from "../../world/simulated/disk.ts";
import {
  blobs,
  userRecord,
  findSessionFile,
  createSessionFixture,
  picture,
  root,
  listEntryTexts,
  type SessionFixture,
} from "../session.cases.ts";
import type { Session } from "../session.ts";

const openFixture = async (): Promise<{ fixture: SessionFixture; session: Session; flushes: () => number }> => {
  const fixture = createSessionFixture();
  const session = await fixture.sessions.create({ root });
  const before = flushesIn(fixture.changes, session.id);
  return { fixture, session, flushes: () => flushesIn(fixture.changes, session.id) - before };
};

const flushesIn = (changes: readonly DiskChange[], id: string): number =>
  changes.filter(({ kind, path }) => kind === "flush" && path.endsWith(`${id}.jsonl`)).length;

const failOn =
  (kind: DiskChange["kind"], fault: DiskFault, path = ".jsonl") =>
  (change: DiskChange): DiskFault | undefined =>
    change.kind === kind && change.path.endsWith(path) ? fault : undefined;

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "failure" in error ? error.failure : error),
  );

describe("appending to a session", () => {
  it("flushes once for all appends of one tick, and separately otherwise", async () => {
    const { fixture, session, flushes } = await openFixture();
    await Promise.all(["one", "two", "three"].map((word) => session.append([userRecord(word)])));
    expect(flushes()).toBe(1);
    await session.append([userRecord("four")]);
    await session.append([userRecord("five"), userRecord("six")]);
    expect(flushes()).toBe(3);
    await session.close();

    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual([
      "one",
      "two",
      "three",
      "four",
      "five",
      "six",
    ]);
  });

  it("resolves only once the disk has confirmed the flush", async () => {
    const { fixture, session } = await openFixture();
    let acknowledged = false;
    let atFlush: boolean | undefined;
    fixture.failChanges((change) => {
      if (change.kind === "flush") atFlush = acknowledged;
      return undefined;
    });
    await session.append([userRecord("one")]).then(() => (acknowledged = true));

    expect(atFlush).toBe(false);
    expect(
      listEntryTexts(
        await createSessionFixture({ me: "2-0", disk: fixture.disk.crash(() => 0) }).sessions.open(session.id),
      ),
    ).toEqual(["one"]);
  });

  it("copies a record at the time of the append", async () => {
    const { fixture, session } = await openFixture();
    const parts: Text[] = [{ type: "text", text: "before" }];
    const writing = session.append([{ kind: "entry", entry: { type: "user", parts } }]);
    parts.push({ type: "text", text: "after" });
    await writing;

    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual(["before"]);
  });

  it.each(["ENOSPC", "EDQUOT"])(
    "keeps nothing of what the disk had no room for, and goes on once there is room: %s",
    async (code) => {
      const { fixture, session } = await openFixture();
      await session.append([userRecord("one")]);
      const { path, text: before } = findSessionFile(fixture.disk, session.id);
      for (const trouble of [failOn("append", { code, written: 40 }), failOn("flush", { code })]) {
        fixture.failChanges(trouble);
        const tried = [session.append([userRecord("lost")]), session.append([userRecord("lost too")])];
        expect(await Promise.all(tried.map(failureOf))).toEqual(tried.map(() => ({ kind: "no-space", path })));
        expect(findSessionFile(fixture.disk, session.id).text).toBe(before);
      }
      fixture.failChanges(undefined);
      await session.append([userRecord("two")]);
      await session.close();

      const again = await fixture.sessions.open(session.id);
      expect({ words: listEntryTexts(again), damage: again.damage }).toEqual({ words: ["one", "two"], damage: [] });
    },
  );

  it("rejects appends that were queued behind a failed one", async () => {
    const { fixture, session } = await openFixture();
    fixture.failChanges(failOn("append", { code: "ENOSPC", written: 3 }));
    const first = session.append([userRecord("one")]);
    let second: Promise<unknown> = Promise.resolve("never asked");
    fixture.failChanges((change) => {
      if (change.kind !== "append") return undefined;
      second = failureOf(session.append([userRecord("two")]));
      fixture.failChanges(undefined);
      return { code: "ENOSPC" };
    });

    expect([await failureOf(first), await second]).toMatchObject([{ kind: "no-space" }, { kind: "no-space" }]);
    await session.append([userRecord("three")]);
    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual(["three"]);
  });

  it("accepts nothing more after a failed flush, and does not retry it", async () => {
    const { fixture, session, flushes } = await openFixture();
    await session.append([userRecord("one")]);
    fixture.failChanges(failOn("flush", { code: "EIO" }));
    const failure = { kind: "unconfirmed", id: session.id, code: "EIO" };
    expect(await failureOf(session.append([userRecord("two")]))).toEqual(failure);
    fixture.failChanges(undefined);
    expect(await failureOf(session.append([userRecord("three")]))).toEqual(failure);
    expect(flushes()).toBe(2);
    await session.close();

    const again = await fixture.sessions.open(session.id);
    expect(listEntryTexts(again).slice(0, 1)).toEqual(["one"]);
    await again.append([userRecord("four")]);
  });

  it("accepts nothing more if a failed append cannot be rolled back", async () => {
    const { fixture, session } = await openFixture();
    fixture.failChanges((change) =>
      change.kind === "append" || change.kind === "truncate" ? { code: "EIO", written: 5 } : undefined,
    );
    expect(await failureOf(session.append([userRecord("one")]))).toMatchObject({ kind: "disk", code: "EIO" });
    fixture.failChanges(undefined);
    expect(await failureOf(session.append([userRecord("two")]))).toEqual({
      kind: "unconfirmed",
      id: session.id,
      code: "EIO",
    });
  });

  type ForeignChange = {
    readonly name: string;
    readonly change: (fixture: SessionFixture, path: string, text: string) => Promise<void>;
  };
  it.each<ForeignChange>([
    {
      name: "replaced",
      change: async ({ disk }, path, text) => disk.seed(path, { kind: "file", text, mode: 0o600 }),
    },
    { name: "removed", change: async ({ disk }, path) => disk.removeTree(path) },
    {
      name: "written to",
      change: async ({ disk }, path) => {
        const folder = await disk.openFolder(path.slice(0, path.lastIndexOf("/")));
        await (await folder.openAppend(path.slice(path.lastIndexOf("/") + 1))).append(new Uint8Array([65]));
      },
    },
  ])("detects that its file was $name by another process, and does not change it", async ({ change }) => {
    const { fixture, session } = await openFixture();
    await session.append([userRecord("one")]);
    const { path, text } = findSessionFile(fixture.disk, session.id);
    await change(fixture, path, text);
    const before = fixture.disk.snapshot();

    expect(await failureOf(session.append([userRecord("two")]))).toEqual({ kind: "changed", id: session.id });
    expect(await failureOf(session.append([userRecord("three")]))).toEqual({ kind: "changed", id: session.id });
    expect(fixture.disk.snapshot()).toEqual(before);
  });

  it("stores blobs before the records that refer to them, and only once", async () => {
    const { fixture, session } = await openFixture();
    const keeping = session.storeBlobs(blobs);
    const writing = session.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
    await Promise.all([keeping, writing, session.storeBlobs(blobs)]);
    await session.storeBlobs(blobs);
    const order = fixture.changes.filter(
      ({ kind, path }) => kind === "put" || (kind === "append" && path.endsWith(".jsonl")),
    );

    expect(order.map(({ kind, path }) => `${kind} ${path.split("/").at(-1)}`)).toEqual([
      `put ${session.id}.jsonl`,
      `put ${picture.blob.hash}`,
      `append ${session.id}.jsonl`,
    ]);
    expect((await fixture.sessions.read(session.id)).blobs).toEqual(blobs);
  });

  it("appends no record whose blob could not be stored", async () => {
    const { fixture, session } = await openFixture();
    fixture.failChanges(failOn("put", { code: "ENOSPC" }, picture.blob.hash));
    const keeping = failureOf(session.storeBlobs(blobs));
    const writing = failureOf(session.append([userRecord("see this")]));

    expect([await keeping, await writing]).toMatchObject([{ kind: "no-space" }, { kind: "no-space" }]);
    fixture.failChanges(undefined);
    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual([]);
  });

  it("writes as few bytes for the thousandth record as for the first", async () => {
    const fixture = createSessionFixture();
    const session = await fixture.sessions.create({ root });
    const added: number[] = [];
    for (let turn = 0; turn < 1000; turn++) {
      const before = fixture.changes.length;
      await session.append([userRecord("x")]);
      added.push(fixture.changes.length - before);
    }
    expect(new Set(added)).toEqual(new Set([2]));
  });

  it("completes pending appends before it closes, and rejects later ones", async () => {
    const { fixture, session } = await openFixture();
    const writing = session.append([userRecord("one")]);
    await Promise.all([session.close(), session.close()]);
    await writing;

    expect(await failureOf(session.append([userRecord("two")]))).toEqual({ kind: "closed", id: session.id });
    expect(listEntryTexts(await fixture.sessions.read(session.id))).toEqual(["one"]);
  });
});
