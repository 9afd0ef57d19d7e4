import type { Folder } from "../../world/disk.ts";
import { acquireLockFile, type LockResult } from "../../world/lock-file.ts";
import type { World } from "../../world/world.ts";
import { SessionError } from "../error.ts";

/** The folder with a project's session locks. */
export const lockFolder = "locks";

/** The lock held while unused blobs are removed; no session can be opened meanwhile. */
const cleanupLockName = "sweep";

export type ReleaseLock = () => Promise<void>;

/** Acquires the session lock. It is held until released or until this process ends. Throws `busy` if another process holds it. */
export const acquireSessionLock = async (world: World, project: Folder, id: string): Promise<ReleaseLock> => {
  for (let attempt = 1; ; attempt++) {
    const lock = await takeProjectLock(world, project, {
      name: id,
      conflictsWith: (other) => other === id || other === cleanupLockName,
    });
    if (lock.acquired) return lock.release;
    if (lock.name !== cleanupLockName || attempt === maxCleanupWaits)
      throw new SessionError({ kind: "busy", id, by: `process ${Number.parseInt(lock.holder, 10)}` });
    await world.clock.sleep(20);
  }
};

const maxCleanupWaits = 500;

/** Locks all sessions of a project; undefined if one of them is open. */
export const acquireProjectLock = async (world: World, project: Folder): Promise<ReleaseLock | undefined> => {
  const lock = await takeProjectLock(world, project, { name: cleanupLockName, conflictsWith: () => true });
  return lock.acquired ? lock.release : undefined;
};

const takeProjectLock = async (
  { processIdentity: life, clock, random }: World,
  project: Folder,
  wish: Parameters<typeof acquireLockFile>[1],
): Promise<LockResult> => {
  await project.makeFolder(lockFolder, 0o700);
  const folder = await project.openFolder(lockFolder);
  const lock = await acquireLockFile({ folder, processIdentity: life, clock, random }, wish).catch(
    async (error: unknown) => {
      await folder.close();
      throw error;
    },
  );
  if (!lock.acquired) {
    await folder.close();
    return lock;
  }
  const release = async (): Promise<void> => {
    await lock.release();
    await folder.close();
  };
  return { acquired: true, release };
};
