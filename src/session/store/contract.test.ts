import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "../../world/real/world.ts";
import { createSessionFixture, home } from "../session.cases.ts";
import { describeSessionStore } from "./contract.cases.ts";
import { openSessionStore } from "./store.ts";

describeSessionStore("memory", async () => {
  const { sessions, world } = createSessionFixture();
  const other = openSessionStore(world, { home });
  return { sessions, other, passTime: async () => world.shiftWallClock(1), close: async () => undefined };
});

describeSessionStore("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-contract-"));
  const world = realWorld();
  return {
    sessions: openSessionStore(world, { home: folder }),
    other: openSessionStore(realWorld(), { home: folder }),
    passTime: () => passFileTime(join(folder, "now")),
    close: () => rm(folder, { recursive: true, force: true }),
  };
});

/**
 * Waits until a change of a file gets a later time than before, in the whole milliseconds that lists compare. The times
 * of files advance in steps of up to 10 ms, or in much shorter ones.
 */
const passFileTime = async (path: string): Promise<void> => {
  const touch = async (): Promise<number> => {
    await writeFile(path, "");
    return Math.floor((await stat(path)).mtimeMs);
  };
  const before = await touch();
  while ((await touch()) === before);
};
