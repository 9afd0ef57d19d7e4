import type { Folder } from "./disk.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Clock } from "./world.ts";

/** What locks are made of: a folder for nothing else, and who runs. */
export type LockContext = {
  readonly folder: Folder;
  readonly processIdentity: ProcessIdentity;
  readonly clock: Clock;
  readonly random: () => number;
};

/** What to lock, and which other locks stand against it; without `against`, only those of the same name. */
export type LockRequest = { readonly name: string; readonly conflictsWith?: (name: string) => boolean };

/** A lock that was taken, or who has one that stands against it. */
export type LockResult =
  | { readonly acquired: true; readonly release: () => Promise<void> }
  | { readonly acquired: false; readonly name: string; readonly holder: string };

/**
 * Takes a lock, if nobody alive has one against it. Locks of the dead do not count and are swept.
 *
 * Everybody first shows their wish and then looks for others, so of two the later one always sees the earlier. Who sees
 * only a wish takes their own back and tries again after a while of their own; a name lasts as long as the lock, so no
 * look at the folder can miss it. Names hold no dots.
 */
export const acquireLockFile = async (
  place: LockContext,
  { name, conflictsWith: against = (other) => other === name }: LockRequest,
): Promise<LockResult> => {
  const me = await place.processIdentity.current();
  const mine = `${name}.${me}.${Math.floor(place.random() * 2 ** 40).toString(36)}`;
  for (let attempt = 1; ; attempt++) {
    await touch(place.folder, `${mine}.wanted`);
    const others = (await listLiveLocks(place, mine)).filter((other) => against(other.name));
    const [other] = others.toSorted((one, two) => Number(two.isHeld) - Number(one.isHeld));
    if (other === undefined) {
      await touch(place.folder, `${mine}.held`);
      return { acquired: true, release: () => release(place.folder, mine) };
    }
    await release(place.folder, mine);
    if (other.isHeld || attempt === maxAttempts) return { acquired: false, name: other.name, holder: other.holder };
    await place.clock.sleep(place.random() * 5 * attempt);
  }
};

const maxAttempts = 30;

const touch = async (folder: Folder, name: string): Promise<void> => (await folder.openAppend(name)).close();

const release = async (folder: Folder, mine: string): Promise<void> => {
  await folder.remove(`${mine}.held`);
  await folder.remove(`${mine}.wanted`);
};

type OtherLock = { readonly name: string; readonly holder: string; readonly isHeld: boolean };

/** The locks of everybody else who is alive. Those of the dead are removed: nobody will use their names again. */
const listLiveLocks = async (
  { folder, processIdentity: life }: LockContext,
  mine: string,
): Promise<readonly OtherLock[]> => {
  const seen = new Map<string, boolean>();
  const others: OtherLock[] = [];
  for await (const { name: file } of folder.list()) {
    const [name = "", by = "", , state] = file.split(".");
    if (state === undefined || file.startsWith(`${mine}.`)) continue;
    const isAlive = seen.get(by) ?? (await life.isAlive(by));
    seen.set(by, isAlive);
    if (isAlive) others.push({ name, holder: by, isHeld: state === "held" });
    else await folder.remove(file);
  }
  return others;
};
