import type { Folder } from "../world/disk.ts";
import { takeLock, type Lock } from "../world/lock.ts";
import type { World } from "../world/world.ts";
import { SessionError } from "./error.ts";

/** Where a project's locks lie. */
export const lockFolder = "locks";

/** The lock of whoever removes blobs that no session names; nobody opens a session meanwhile. */
const sweeping = "sweep";

/** Lets go of what was taken. */
export type Release = () => Promise<void>;

/** Makes a session ours alone, as long as this program lives and does not let go of it. */
export const occupy = async (world: World, project: Folder, id: string): Promise<Release> => {
  for (let attempt = 1; ; attempt++) {
    const lock = await locked(world, project, { name: id, against: (other) => other === id || other === sweeping });
    if (lock.taken) return lock.release;
    if (lock.name !== sweeping || attempt === sweepPatience)
      throw new SessionError({ kind: "busy", id, pid: Number.parseInt(lock.by, 10) });
    await world.clock.sleep(20);
  }
};

const sweepPatience = 500;

/** Keeps everybody out of a project's sessions; undefined if somebody is in one. */
export const occupyAll = async (world: World, project: Folder): Promise<Release | undefined> => {
  const lock = await locked(world, project, { name: sweeping, against: () => true });
  return lock.taken ? lock.release : undefined;
};

const locked = async (
  { life, clock, random }: World,
  project: Folder,
  wish: Parameters<typeof takeLock>[1],
): Promise<Lock> => {
  await project.makeFolder(lockFolder, 0o700);
  const folder = await project.folder(lockFolder);
  const lock = await takeLock({ folder, life, clock, random }, wish).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  if (!lock.taken) {
    await folder.close();
    return lock;
  }
  const release = async (): Promise<void> => {
    await lock.release();
    await folder.close();
  };
  return { taken: true, release };
};
