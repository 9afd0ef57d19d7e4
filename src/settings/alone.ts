import { basename, dirname, join } from "node:path";
import type { Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { takeLock } from "../world/lock.ts";
import { SettingsError } from "./error.ts";

/** What it takes to change settings. */
export type Writable = Pick<World, "disk" | "life" | "clock" | "random">;

/** Does something to the settings in a home, which is made if it is missing, while no other program does. */
export const alone = async (world: Writable, home: string, work: (home: string) => Promise<void>): Promise<void> => {
  const own = await made(world, home);
  const folder = await world.disk.open(await made(world, join(own, "locks")));
  try {
    const release = await lockIn(world, folder, home);
    try {
      await work(own);
    } finally {
      await release();
    }
  } finally {
    await folder.close();
  }
};

/** The canonical path of a folder, which is made for its owner alone where it is missing. */
const made = async (world: Writable, path: string): Promise<string> => {
  const there = await world.disk.canonical(path);
  if (there !== undefined) return there;
  const above = await made(world, dirname(path));
  const folder = await world.disk.open(above);
  try {
    await folder.makeFolder(basename(path), 0o700);
    return join(above, basename(path));
  } finally {
    await folder.close();
  }
};

/** How often, and how long, to wait for another program that changes settings: it takes a moment. */
const patience = { times: 400, ms: 25 };

const lockIn = async (
  { life, clock, random }: Writable,
  folder: Folder,
  home: string,
): Promise<() => Promise<void>> => {
  for (let time = 0; time < patience.times; time++) {
    const lock = await takeLock({ folder, life, clock, random }, { name: "settings" });
    if (lock.taken) return lock.release;
    await clock.sleep(patience.ms * random());
  }
  throw new SettingsError({ kind: "no-access", file: home, why: "another program is changing settings; try again" });
};
