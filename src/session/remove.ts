import type { Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { SessionError } from "./error.ts";
import { folderAt, within } from "./folders.ts";
import { foundIn } from "./list.ts";
import { occupy } from "./occupy.ts";
import { fileName, namesOf, type Place, type Scope } from "./place.ts";
import { removeKeptFiles, sweepKeptFiles } from "./kept-files.ts";
import { sweep } from "./sweep.ts";

/** Removes a session with all that was kept aside of it, and the blobs only it named. */
export const removeSession = async (world: World, home: string, { path, id }: Place): Promise<void> => {
  const folder = await folderAt(world.disk, path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id });
  await within(folder, async (project) => {
    await removeFiles(world, project, { home, id });
    await sweep(world, project);
  });
  await sweepKeptFiles(world, home);
};

/** How much is kept: sessions used since so many milliseconds ago, and so many of them. */
export type Retention = { readonly maxAge?: number; readonly maxCount?: number };

/** Removes what a retention does not keep, except what is open, and says what that was. */
export const pruneSessions = async (
  world: World,
  { home, ...scope }: Scope & { readonly home: string },
  { maxAge = Infinity, maxCount = Infinity }: Retention,
): Promise<readonly string[]> => {
  const oldest = world.clock.now() - maxAge;
  const victims = (await foundIn(scope)).filter(({ modified }, index) => index >= maxCount || modified < oldest);
  const removed: string[] = [];
  for (const path of new Set(victims.map((victim) => victim.path))) {
    const folder = await folderAt(world.disk, path);
    if (folder === undefined) continue;
    await within(folder, async (project) => {
      for (const { id } of victims.filter((victim) => victim.path === path))
        if (await removeFiles(world, project, { home, id }).then(() => true, isBusy)) removed.push(id);
      await sweep(world, project);
    });
  }
  await sweepKeptFiles(world, home);
  return removed;
};

/** False for a session somebody is in; anything else is thrown on. */
const isBusy = (error: unknown): boolean => {
  if (error instanceof SessionError && error.failure.kind === "busy") return false;
  throw error;
};

const removeFiles = async (
  world: World,
  project: Folder,
  { home, id }: { readonly home: string; readonly id: string },
): Promise<void> => {
  const release = await occupy(world, project, id);
  try {
    const kept = (await namesOf(project, "file")).filter((name) => name.startsWith(`${fileName(id)}.damaged-`));
    for (const name of [...kept, fileName(id)]) await project.remove(name);
    await project.flush();
    await removeKeptFiles(world.disk, home, id);
  } finally {
    await release();
  }
};
