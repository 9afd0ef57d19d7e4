import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { SessionError } from "../error.ts";
import { openFolder, withFolder } from "./folders.ts";
import { findSessionFiles } from "./list.ts";
import { acquireSessionLock } from "./lock.ts";
import { sessionFileName, listNames, type SessionLocation, type SessionScope } from "./locate.ts";
import { removeSideFiles, removeOrphanedSideFiles } from "./side-files.ts";
import { removeUnusedBlobs } from "./unused-blobs.ts";

/** Removes a session, the bytes repairs saved aside, and blobs no other session uses. */
export const removeSession = async (world: World, home: string, { path, id }: SessionLocation): Promise<void> => {
  const folder = await openFolder(world.disk, path);
  if (folder === undefined) throw new SessionError({ kind: "not-found", id });
  await withFolder(folder, async (project) => {
    await removeSessionFiles(world, project, { home, id });
    await removeUnusedBlobs(world, project);
  });
  await removeOrphanedSideFiles(world, home);
};

/** Which sessions to keep: those used within `maxAge` milliseconds, and at most `maxCount` of them. */
export type Retention = { readonly maxAge?: number; readonly maxCount?: number };

/** Removes sessions beyond the retention, except open ones, and returns their ids. */
export const pruneSessions = async (
  world: World,
  { home, ...scope }: SessionScope & { readonly home: string },
  { maxAge = Infinity, maxCount = Infinity }: Retention,
): Promise<readonly string[]> => {
  const cutoff = world.clock.now() - maxAge;
  const expired = (await findSessionFiles(scope)).filter(
    ({ modified }, index) => index >= maxCount || modified < cutoff,
  );
  const removed: string[] = [];
  for (const path of new Set(expired.map((file) => file.path))) {
    const folder = await openFolder(world.disk, path);
    if (folder === undefined) continue;
    await withFolder(folder, async (project) => {
      for (const { id } of expired.filter((file) => file.path === path))
        if (await removeSessionFiles(world, project, { home, id }).then(() => true, ignoreBusy)) removed.push(id);
      await removeUnusedBlobs(world, project);
    });
  }
  await removeOrphanedSideFiles(world, home);
  return removed;
};

/** Returns false for a locked session; rethrows other errors. */
const ignoreBusy = (error: unknown): boolean => {
  if (error instanceof SessionError && error.failure.kind === "busy") return false;
  throw error;
};

const removeSessionFiles = async (
  world: World,
  project: Folder,
  { home, id }: { readonly home: string; readonly id: string },
): Promise<void> => {
  const release = await acquireSessionLock(world, project, id);
  try {
    const savedBytes = (await listNames(project, "file")).filter((name) =>
      name.startsWith(`${sessionFileName(id)}.damaged-`),
    );
    for (const name of [...savedBytes, sessionFileName(id)]) await project.remove(name);
    await project.flush();
    await removeSideFiles(world.disk, home, id);
  } finally {
    await release();
  }
};
