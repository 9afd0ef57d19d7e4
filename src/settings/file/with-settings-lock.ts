import { join } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { ensureFolderPath } from "../../world/ensure-folder.ts";
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
  const own = await ensureFolderPath(world.disk, home);
  const folder = await world.disk.openFolder(await ensureFolderPath(world.disk, join(own, "locks")));
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
