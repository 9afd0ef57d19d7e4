import { constants } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSyncFileCalls } from "./sync-file-calls.ts";

const { lstat, open } = createSyncFileCalls();

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-system-"));
});
afterAll(() => rm(folder, { recursive: true }));

const writing = constants.O_RDWR | constants.O_CREAT;

describe("synchronous file calls", () => {
  it("yields to the event loop during long runs of calls", async () => {
    let hadTurn = false;
    setTimeout(() => (hadTurn = true), 1);
    let asked = 0;
    while (!hadTurn && asked < 1_000_000) {
      await lstat(folder);
      asked += 1;
    }
    expect(hadTurn).toBe(true);
  });

  it("writes and reads the same bytes, few and many", async () => {
    for (const size of [0, 1, 2 ** 18, 2 ** 18 + 1, 3 * 2 ** 20]) {
      const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251);
      const handle = await open(join(folder, `${size}`), writing, 0o600);
      await handle.write(bytes);
      const back = new Uint8Array(size);
      expect(await handle.read(back, 0, size, 0)).toBe(size);
      await handle.close();
      expect(Buffer.compare(back, bytes)).toBe(0);
      expect(Buffer.compare(await readFile(join(folder, `${size}`)), bytes)).toBe(0);
    }
  });

  it("gives each of many writes its own modification time", async () => {
    const path = join(folder, "touched");
    const handle = await open(path, writing, 0o600);
    const times = new Set<bigint>();
    for (let write = 0; write < 200; write++) {
      await handle.touch();
      times.add((await lstat(path)).mtimeNs);
    }
    await handle.close();
    expect(times.size).toBe(200);
  });

  it("closes a file once no call is pending, and rejects later calls", async () => {
    const handle = await open(join(folder, "closed"), writing, 0o600);
    const order: string[] = [];
    const flushed = handle.sync().then(() => order.push("flushed"));
    const closed = handle.close().then(() => order.push("closed"));
    await Promise.all([flushed, closed]);
    expect(order).toEqual(["flushed", "closed"]);
    expect(handle.fd).toBe(-1);
    await handle.close();
    const uses = [
      () => handle.stat(),
      () => handle.datasync(),
      () => handle.sync(),
      () => handle.write(new Uint8Array(1)),
      () => handle.write(new Uint8Array(2 ** 19)),
      () => handle.truncate(0),
    ];
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: "EBADF" });
  });
});
