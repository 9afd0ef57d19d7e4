import type { Folder } from "./disk.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Clock } from "./world.ts";

/** The dependencies of a lock: a folder that holds nothing but lock files, and the identities of processes. */
export type LockContext = {
  readonly folder: Folder;
  readonly processIdentity: ProcessIdentity;
  readonly clock: Clock;
  readonly random: () => number;
};

/** A lock to acquire, and which other locks conflict with it; without `conflictsWith`, only those of the same name. */
export type LockRequest = { readonly name: string; readonly conflictsWith?: (name: string) => boolean };

/** A lock that was acquired, or the holder of a conflicting one. */
export type LockResult =
  | { readonly acquired: true; readonly release: () => Promise<void> }
  | { readonly acquired: false; readonly name: string; readonly holder: string };

/**
 * Acquires a lock file, unless a living process holds a conflicting one. Locks of dead processes are removed.
 *
 * Each process first creates its request file and then lists the others, so of two processes the later one always sees
 * the earlier. A process that sees only a request removes its own and retries after a random backoff. A file name
 * exists as long as the lock, so no listing can miss it. Names must not contain dots.
 */
export const acquireLockFile = async (
  context: LockContext,
  { name, conflictsWith = (other) => other === name }: LockRequest,
): Promise<LockResult> => {
  const identity = await context.processIdentity.current();
  const own = `${name}.${identity}.${Math.floor(context.random() * 2 ** 40).toString(36)}`;
  for (let attempt = 1; ; attempt++) {
    await touch(context.folder, `${own}.wanted`);
    const others = (await listLiveLocks(context, own)).filter((other) => conflictsWith(other.name));
    const [other] = others.toSorted((one, two) => Number(two.isHeld) - Number(one.isHeld));
    if (other === undefined) {
      await touch(context.folder, `${own}.held`);
      return { acquired: true, release: () => release(context.folder, own) };
    }
    await release(context.folder, own);
    if (other.isHeld || attempt === maxAttempts) return { acquired: false, name: other.name, holder: other.holder };
    await context.clock.sleep(context.random() * 5 * attempt);
  }
};

const maxAttempts = 30;

const touch = async (folder: Folder, name: string): Promise<void> => (await folder.openAppend(name)).close();

const release = async (folder: Folder, own: string): Promise<void> => {
  await folder.remove(`${own}.held`);
  await folder.remove(`${own}.wanted`);
};

type OtherLock = { readonly name: string; readonly holder: string; readonly isHeld: boolean };

/** Lists the locks of other living processes, and removes those of dead ones: their names are never used again. */
const listLiveLocks = async ({ folder, processIdentity }: LockContext, own: string): Promise<readonly OtherLock[]> => {
  const seen = new Map<string, boolean>();
  const others: OtherLock[] = [];
  for await (const { name: file } of folder.list()) {
    const [name = "", holder = "", , state] = file.split(".");
    if (state === undefined || file.startsWith(`${own}.`)) continue;
    const isAlive = seen.get(holder) ?? (await processIdentity.isAlive(holder));
    seen.set(holder, isAlive);
    if (isAlive) others.push({ name, holder, isHeld: state === "held" });
    else await folder.remove(file);
  }
  return others;
};
