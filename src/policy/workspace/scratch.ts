import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { splitPath, quotePath } from "./paths.ts";
import type { WorkspaceRoot } from "./walk.ts";

/** A folder for texts that are too long to be said. */
export type ScratchFolder = {
  readonly path: string;
  /** The folder as a root, once it is there. */
  readonly roots: () => readonly WorkspaceRoot[];
  /** Keeps a text, in the folder of its session where there is one, and tells where. The same text is kept once. */
  readonly keep: (text: string, name: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/**
 * Opens the folder if it is there; otherwise it is made when something is kept, for its owner alone.
 * Throws if somebody put a link in its place.
 */
export const openScratchFolder = async (disk: Disk, given: string, session?: string): Promise<ScratchFolder> => {
  const path = join(await canonicalizePath(disk, dirname(resolve(given))), basename(given));
  const rootOf = (folder: Folder): WorkspaceRoot => ({
    path,
    requestedPath: given,
    spellings: [splitPath(path), splitPath(given)],
    folder,
  });
  const found = await disk.canonicalPath(path);
  if (found !== undefined && found !== path)
    throw new PolicyError("policy_violation", `${quotePath(path)} is a link. Nothing is kept there.`);
  let root: WorkspaceRoot | undefined = found === undefined ? undefined : rootOf(await disk.openFolder(path));
  let making: Promise<WorkspaceRoot> | undefined;
  const make = async (): Promise<WorkspaceRoot> => {
    making ??= makeFolders(disk, path).then((folder) => (root = rootOf(folder)));
    try {
      return await making;
    } catch (error) {
      making = undefined;
      throw error;
    }
  };
  return {
    path,
    roots: () => (root === undefined ? [] : [root]),
    keep: async (text, name) => {
      const { folder: top } = root ?? (await make());
      const bytes = new TextEncoder().encode(text);
      const file = `${safeFileName(name)}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.txt`;
      if (session === undefined) {
        await writeOnce(top, file, bytes);
        return join(path, file);
      }
      await top.makeFolder(session, 0o700);
      const folder = await top.openFolder(session);
      await writeOnce(folder, file, bytes).finally(() => folder.close());
      return join(path, session, file);
    },
    close: async () => {
      await making?.catch(() => undefined);
      await root?.folder.close();
    },
  };
};

const writeOnce = async (folder: Folder, name: string, bytes: Uint8Array): Promise<void> => {
  const kept = await folder.stat(name);
  if (kept?.kind !== "file" || kept.size !== bytes.length) await folder.writeFile(name, bytes, 0o600);
};

const safeFileName = (name: string): string =>
  name
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 60) || "text";

/** Where a path leads, or will lead once the rest of it is made. */
export const canonicalizePath = async (disk: Disk, path: string): Promise<string> => {
  const missing: string[] = [];
  for (let start = resolve(path); ; start = dirname(start)) {
    const found = await disk.canonicalPath(start);
    if (found !== undefined) return join(found, ...missing);
    if (dirname(start) === start) return resolve(path);
    missing.unshift(basename(start));
  }
};

const makeFolders = async (disk: Disk, path: string): Promise<Folder> => {
  if ((await disk.canonicalPath(path)) !== undefined) return disk.openFolder(path);
  const parent = await makeFolders(disk, dirname(path));
  try {
    await parent.makeFolder(basename(path), 0o700);
    return await parent.openFolder(basename(path));
  } finally {
    await parent.close();
  }
};
