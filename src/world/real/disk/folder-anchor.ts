import type { BigIntStats } from "node:fs";
import { sep } from "node:path";
import { DiskError } from "../../disk.ts";
import type { SyncFileCalls, SyncFileHandle } from "../sync-file-calls.ts";

/** An open folder, how to reach its children, and checks that it is still in its place. */
export type FolderAnchor = {
  readonly calls: SyncFileCalls;
  readonly path: string;
  readonly handle: SyncFileHandle;
  /** The path by which the system finds a child. */
  readonly childPath: (name: string) => string;
  /** Throws if the folder's path leads elsewhere by now. */
  readonly verify: () => Promise<void>;
  /** Throws if the object opened under a name is not the one that is there now. */
  readonly confirm: (name: string, opened: BigIntStats) => Promise<void>;
  readonly child: CreateAnchor;
};

/** Creates an anchor for an opened folder; for a child, the first argument is its name. */
export type CreateAnchor = (path: string, handle: SyncFileHandle, opened: BigIntStats) => FolderAnchor;

/** Reaches children through the open handle itself, so the folder cannot be swapped and nothing needs a check. */
export const anchorByHandle =
  (calls: SyncFileCalls): CreateAnchor =>
  (path, handle) => ({
    calls,
    path,
    handle,
    childPath: (name) => `/proc/self/fd/${handle.fd}/${name}`,
    verify: async () => undefined,
    confirm: async () => undefined,
    child: (name, child, opened) => anchorByHandle(calls)(joinName(path, name), child, opened),
  });

/**
 * Whether handles can be walked: Linux shows every open folder as /proc/self/fd/N, and N/name is a child of that folder
 * even after a move.
 */
export const canWalkHandle = async ({ lstat }: SyncFileCalls, handle: SyncFileHandle): Promise<boolean> => {
  try {
    const current = await lstat(`/proc/self/fd/${handle.fd}/.`);
    return isSameFile(current, await handle.stat());
  } catch {
    return false;
  }
};

/** Reaches children by path, and checks that every folder from the root down is still the one that was opened. */
export const anchorByPath =
  (calls: SyncFileCalls): CreateAnchor =>
  (path, handle, opened) =>
    createCheckedAnchor(calls, { path, handle, steps: [{ path, opened }] });

type CheckedStep = { readonly path: string; readonly opened: BigIntStats };
type CheckedPath = { readonly path: string; readonly handle: SyncFileHandle; readonly steps: readonly CheckedStep[] };

const createCheckedAnchor = (calls: SyncFileCalls, { path, handle, steps }: CheckedPath): FolderAnchor => {
  const verify = async (): Promise<void> => {
    for (const step of steps) {
      const now = await calls.lstat(step.path);
      if (!now.isDirectory() || !isSameFile(now, step.opened)) throw new DiskError("ELOOP", `${step.path} was swapped`);
    }
  };
  return {
    calls,
    path,
    handle,
    childPath: (name) => joinName(path, name),
    verify,
    confirm: async (name, opened) => {
      const now = await calls.lstat(joinName(path, name));
      if (now.isSymbolicLink() || !isSameFile(now, opened))
        throw new DiskError("ELOOP", `${joinName(path, name)} was swapped`);
      await verify();
    },
    child: (name, child, opened) => {
      const below = joinName(path, name);
      return createCheckedAnchor(calls, { path: below, handle: child, steps: [...steps, { path: below, opened }] });
    },
  };
};

/** The path of a child. Nothing is normalized: of deep folders, that would take longer than all system calls. */
export const joinName = (folder: string, name: string): string =>
  folder.endsWith(sep) ? folder + name : folder + sep + name;

/** Whether two stats are of the same file or folder. */
export const isSameFile = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino;
