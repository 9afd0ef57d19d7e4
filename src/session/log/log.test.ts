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

const begun = async (): Promise<{ bench: SessionFixture; session: Session; flushes: () => number }> => {
  const bench = createSessionFixture();
  const session = await bench.sessions.create({ root });
  const before = flushesIn(bench.changes, session.id);
  return { bench, session, flushes: () => flushesIn(bench.changes, session.id) - before };
};

const flushesIn = (changes: readonly DiskChange[], id: string): number =>
  changes.filter(({ kind, path }) => kind === "flush" && path.endsWith(`${id}.jsonl`)).length;

const failing =
  (kind: DiskChange["kind"], trouble: DiskFault, path = ".jsonl") =>
  (change: DiskChange): DiskFault | undefined =>
    change.kind === kind && change.path.endsWith(path) ? trouble : undefined;

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "failure" in error ? error.failure : error),
  );

describe("writing to a session", () => {
  it("asks the disk once for what is written in one tick, and for each of what is not", async () => {
    const { bench, session, flushes } = await begun();
    await Promise.all(["one", "two", "three"].map((word) => session.append([userRecord(word)])));
    expect(flushes()).toBe(1);
    await session.append([userRecord("four")]);
    await session.append([userRecord("five"), userRecord("six")]);
    expect(flushes()).toBe(3);
    await session.close();

    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual([
      "one",
      "two",
      "three",
      "four",
      "five",
      "six",
    ]);
  });

  it("says that something is written only after the disk has confirmed it", async () => {
    const { bench, session } = await begun();
    let acknowledged = false;
    let atFlush: boolean | undefined;
    bench.failChanges((change) => {
      if (change.kind === "flush") atFlush = acknowledged;
      return undefined;
    });
    await session.append([userRecord("one")]).then(() => (acknowledged = true));

    expect(atFlush).toBe(false);
    expect(
      listEntryTexts(
        await createSessionFixture({ me: "2-0", disk: bench.disk.crash(() => 0) }).sessions.open(session.id),
      ),
    ).toEqual(["one"]);
  });

  it("takes a record as it is when it is written, whatever becomes of it later", async () => {
    const { bench, session } = await begun();
    const parts: Text[] = [{ type: "text", text: "before" }];
    const writing = session.append([{ kind: "entry", entry: { type: "user", parts } }]);
    parts.push({ type: "text", text: "after" });
    await writing;

    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual(["before"]);
  });

  it.each(["ENOSPC", "EDQUOT"])(
    "keeps nothing of what the disk had no room for, and goes on once there is room: %s",
    async (code) => {
      const { bench, session } = await begun();
      await session.append([userRecord("one")]);
      const { path, text: before } = findSessionFile(bench.disk, session.id);
      for (const trouble of [failing("append", { code, written: 40 }), failing("flush", { code })]) {
        bench.failChanges(trouble);
        const tried = [session.append([userRecord("lost")]), session.append([userRecord("lost too")])];
        expect(await Promise.all(tried.map(failureOf))).toEqual(tried.map(() => ({ kind: "no-space", path })));
        expect(findSessionFile(bench.disk, session.id).text).toBe(before);
      }
      bench.failChanges(undefined);
      await session.append([userRecord("two")]);
      await session.close();

      const again = await bench.sessions.open(session.id);
      expect({ words: listEntryTexts(again), healed: again.damage }).toEqual({ words: ["one", "two"], healed: [] });
    },
  );

  it("refuses what was asked for while something before it failed", async () => {
    const { bench, session } = await begun();
    bench.failChanges(failing("append", { code: "ENOSPC", written: 3 }));
    const first = session.append([userRecord("one")]);
    let second: Promise<unknown> = Promise.resolve("never asked");
    bench.failChanges((change) => {
      if (change.kind !== "append") return undefined;
      second = failureOf(session.append([userRecord("two")]));
      bench.failChanges(undefined);
      return { code: "ENOSPC" };
    });

    expect([await failureOf(first), await second]).toMatchObject([{ kind: "no-space" }, { kind: "no-space" }]);
    await session.append([userRecord("three")]);
    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual(["three"]);
  });

  it("trusts a disk no more that did not confirm, and does not ask it again", async () => {
    const { bench, session, flushes } = await begun();
    await session.append([userRecord("one")]);
    bench.failChanges(failing("flush", { code: "EIO" }));
    const failure = { kind: "unconfirmed", id: session.id, code: "EIO" };
    expect(await failureOf(session.append([userRecord("two")]))).toEqual(failure);
    bench.failChanges(undefined);
    expect(await failureOf(session.append([userRecord("three")]))).toEqual(failure);
    expect(flushes()).toBe(2);
    await session.close();

    const again = await bench.sessions.open(session.id);
    expect(listEntryTexts(again).slice(0, 1)).toEqual(["one"]);
    await again.append([userRecord("four")]);
  });

  it("is over when what failed cannot be taken back", async () => {
    const { bench, session } = await begun();
    bench.failChanges((change) =>
      change.kind === "append" || change.kind === "truncate" ? { code: "EIO", written: 5 } : undefined,
    );
    expect(await failureOf(session.append([userRecord("one")]))).toMatchObject({ kind: "disk", code: "EIO" });
    bench.failChanges(undefined);
    expect(await failureOf(session.append([userRecord("two")]))).toEqual({
      kind: "unconfirmed",
      id: session.id,
      code: "EIO",
    });
  });

  type Meddler = {
    readonly name: string;
    readonly change: (bench: SessionFixture, path: string, text: string) => Promise<void>;
  };
  it.each<Meddler>([
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
  ])("notices that its file was $name by somebody else, and leaves it alone", async ({ change }) => {
    const { bench, session } = await begun();
    await session.append([userRecord("one")]);
    const { path, text } = findSessionFile(bench.disk, session.id);
    await change(bench, path, text);
    const before = bench.disk.snapshot();

    expect(await failureOf(session.append([userRecord("two")]))).toEqual({ kind: "changed", id: session.id });
    expect(await failureOf(session.append([userRecord("three")]))).toEqual({ kind: "changed", id: session.id });
    expect(bench.disk.snapshot()).toEqual(before);
  });

  it("has bytes on the disk before a record that names them, and writes them once", async () => {
    const { bench, session } = await begun();
    const keeping = session.storeBlobs(blobs);
    const writing = session.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
    await Promise.all([keeping, writing, session.storeBlobs(blobs)]);
    await session.storeBlobs(blobs);
    const order = bench.changes.filter(
      ({ kind, path }) => kind === "put" || (kind === "append" && path.endsWith(".jsonl")),
    );

    expect(order.map(({ kind, path }) => `${kind} ${path.split("/").at(-1)}`)).toEqual([
      `put ${session.id}.jsonl`,
      `put ${picture.blob.hash}`,
      `append ${session.id}.jsonl`,
    ]);
    expect((await bench.sessions.read(session.id)).blobs).toEqual(blobs);
  });

  it("writes no record whose bytes could not be kept", async () => {
    const { bench, session } = await begun();
    bench.failChanges(failing("put", { code: "ENOSPC" }, picture.blob.hash));
    const keeping = failureOf(session.storeBlobs(blobs));
    const writing = failureOf(session.append([userRecord("see this")]));

    expect([await keeping, await writing]).toMatchObject([{ kind: "no-space" }, { kind: "no-space" }]);
    bench.failChanges(undefined);
    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual([]);
  });

  it("writes as little for the thousandth record as for the first", async () => {
    const bench = createSessionFixture();
    const session = await bench.sessions.create({ root });
    const added: number[] = [];
    for (let turn = 0; turn < 1000; turn++) {
      const before = bench.changes.length;
      await session.append([userRecord("x")]);
      added.push(bench.changes.length - before);
    }
    expect(new Set(added)).toEqual(new Set([2]));
  });

  it("ends what is under way before it closes, and takes nothing after", async () => {
    const { bench, session } = await begun();
    const writing = session.append([userRecord("one")]);
    await Promise.all([session.close(), session.close()]);
    await writing;

    expect(await failureOf(session.append([userRecord("two")]))).toEqual({ kind: "closed", id: session.id });
    expect(listEntryTexts(await bench.sessions.read(session.id))).toEqual(["one"]);
  });
});
