import { basename, dirname, join } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { acquireLockFile } from "../../world/lock-file.ts";
import { SettingsError } from "../error.ts";

/** The parts of the world needed to change settings. */
export type SettingsWriteWorld = Pick<World, "disk" | "processIdentity" | "clock" | "random">;

/** Runs a function while holding the settings lock of a home folder, which is created if it is missing. */
export const withSettingsLock = async (
  world: SettingsWriteWorld,
  home: string,
  work: (home: string) => Promise<void>,
): Promise<void> => {
  const own = await ensureFolderPath(world, home);
  const folder = await world.disk.openFolder(await ensureFolderPath(world, join(own, "locks")));
  try {
    const release = await acquireSettingsLock(world, folder, home);
    try {
      await work(own);
    } finally {
      await release();
    }
  } finally {
    await folder.close();
  }
};

/** Returns the canonical path of a folder, creating it with mode 0700 if it is missing. */
const ensureFolderPath = async (world: SettingsWriteWorld, path: string): Promise<string> => {
  const existing = await world.disk.canonicalPath(path);
  if (existing !== undefined) return existing;
  const parent = await ensureFolderPath(world, dirname(path));
  const folder = await world.disk.openFolder(parent);
  try {
    await folder.makeFolder(basename(path), 0o700);
    return join(parent, basename(path));
  } finally {
    await folder.close();
  }
};

/** How often and how long to wait for another process that changes settings, which takes milliseconds. */
const lockRetry = { times: 400, ms: 25 };

const acquireSettingsLock = async (
  { processIdentity: life, clock, random }: SettingsWriteWorld,
  folder: Folder,
  home: string,
): Promise<() => Promise<void>> => {
  for (let time = 0; time < lockRetry.times; time++) {
    const lock = await acquireLockFile({ folder, processIdentity: life, clock, random }, { name: "settings" });
    if (lock.acquired) return lock.release;
    await clock.sleep(lockRetry.ms * random());
  }
  throw new SettingsError({ kind: "no-access", file: home, why: "another process is changing settings; try again" });
};
