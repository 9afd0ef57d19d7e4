import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { DiskError } from "./disk.ts";
import { lstat, type Handle } from "./system.ts";

/** An open folder, how its children are reached, and whether it is still where it was. */
export type Spot = {
  readonly path: string;
  readonly handle: Handle;
  /** The path by which the system finds a child. */
  readonly at: (name: string) => string;
  /** Throws if the folder's path leads elsewhere by now. */
  readonly verify: () => Promise<void>;
  /** Throws if what was opened under a name is not what stands there. */
  readonly confirm: (name: string, opened: BigIntStats) => Promise<void>;
  readonly child: Way;
};

/** Makes a spot of a folder that was opened; for a child, the first argument is its name. */
export type Way = (path: string, handle: Handle, opened: BigIntStats) => Spot;

/** Children are found through the open handle itself, so the folder cannot be swapped and nothing needs a check. */
export const byHandle: Way = (path, handle) => ({
  path,
  handle,
  at: (name) => `/proc/self/fd/${handle.fd}/${name}`,
  verify: async () => undefined,
  confirm: async () => undefined,
  child: (name, child, opened) => byHandle(join(path, name), child, opened),
});

/** Linux shows every open folder as /proc/self/fd/N, and N/name is a child of that folder wherever it was moved since. */
export const isWalkable = async (handle: Handle): Promise<boolean> => {
  try {
    const there = await lstat(`/proc/self/fd/${handle.fd}/.`);
    return isSame(there, await handle.stat());
  } catch {
    return false;
  }
};

/** Children are found by path, and every folder on the way from where it began must still be the one that was opened. */
export const byPath: Way = (path, handle, opened) => checked({ path, handle, steps: [{ path, opened }] });

type Step = { readonly path: string; readonly opened: BigIntStats };
type Checked = { readonly path: string; readonly handle: Handle; readonly steps: readonly Step[] };

const checked = ({ path, handle, steps }: Checked): Spot => {
  const verify = async (): Promise<void> => {
    for (const step of steps) {
      const now = await lstat(step.path);
      if (!now.isDirectory() || !isSame(now, step.opened)) throw new DiskError("ELOOP", `${step.path} was swapped`);
    }
  };
  return {
    path,
    handle,
    at: (name) => join(path, name),
    verify,
    confirm: async (name, opened) => {
      const now = await lstat(join(path, name));
      if (now.isSymbolicLink() || !isSame(now, opened)) throw new DiskError("ELOOP", `${join(path, name)} was swapped`);
      await verify();
    },
    child: (name, child, opened) => {
      const below = join(path, name);
      return checked({ path: below, handle: child, steps: [...steps, { path: below, opened }] });
    },
  };
};

/** Whether two looks saw the same file or folder. */
export const isSame = (one: BigIntStats, other: BigIntStats): boolean => one.dev === other.dev && one.ino === other.ino;
