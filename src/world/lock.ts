import type { Folder } from "./disk.ts";
import type { Life } from "./life.ts";
import type { Clock } from "./world.ts";

/** What locks are made of: a folder for nothing else, and who runs. */
export type LockPlace = {
  readonly folder: Folder;
  readonly life: Life;
  readonly clock: Clock;
  readonly random: () => number;
};

/** What to lock, and which other locks stand against it; without `against`, only those of the same name. */
export type LockWish = { readonly name: string; readonly against?: (name: string) => boolean };

/** A lock that was taken, or who has one that stands against it. */
export type Lock =
  | { readonly taken: true; readonly release: () => Promise<void> }
  | { readonly taken: false; readonly name: string; readonly by: string };

/**
 * Takes a lock, if nobody alive has one against it. Locks of the dead do not count and are swept.
 *
 * Everybody first shows their wish and then looks for others, so of two the later one always sees the earlier. Who sees
 * only a wish takes their own back and tries again after a while of their own; a name lasts as long as the lock, so no
 * look at the folder can miss it. Names hold no dots.
 */
export const takeLock = async (
  place: LockPlace,
  { name, against = (other) => other === name }: LockWish,
): Promise<Lock> => {
  const me = await place.life.me();
  const mine = `${name}.${me}.${Math.floor(place.random() * 2 ** 40).toString(36)}`;
  for (let attempt = 1; ; attempt++) {
    await touch(place.folder, `${mine}.wanted`);
    const others = (await livingIn(place, mine)).filter((other) => against(other.name));
    const [other] = others.toSorted((one, two) => Number(two.isHeld) - Number(one.isHeld));
    if (other === undefined) {
      await touch(place.folder, `${mine}.held`);
      return { taken: true, release: () => release(place.folder, mine) };
    }
    await release(place.folder, mine);
    if (other.isHeld || attempt === attempts) return { taken: false, name: other.name, by: other.by };
    await place.clock.sleep(place.random() * 5 * attempt);
  }
};

const attempts = 30;

const touch = async (folder: Folder, name: string): Promise<void> => (await folder.append(name)).close();

const release = async (folder: Folder, mine: string): Promise<void> => {
  await folder.remove(`${mine}.held`);
  await folder.remove(`${mine}.wanted`);
};

type Other = { readonly name: string; readonly by: string; readonly isHeld: boolean };

/** The locks of everybody else who is alive. Those of the dead are removed: nobody will use their names again. */
const livingIn = async ({ folder, life }: LockPlace, mine: string): Promise<readonly Other[]> => {
  const seen = new Map<string, boolean>();
  const others: Other[] = [];
  for await (const { name: file } of folder.list()) {
    const [name = "", by = "", , state] = file.split(".");
    if (state === undefined || file.startsWith(`${mine}.`)) continue;
    const isAlive = seen.get(by) ?? (await life.isAlive(by));
    seen.set(by, isAlive);
    if (isAlive) others.push({ name, by, isHeld: state === "held" });
    else await folder.remove(file);
  }
  return others;
};
