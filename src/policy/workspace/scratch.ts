import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { splitPath, quotePath } from "./paths.ts";
import type { WorkspaceRoot } from "./walk.ts";

/** The folder for outputs that are too long for the model. */
export type ScratchFolder = {
  readonly path: string;
  /** The folder as a root, once it exists. */
  readonly roots: () => readonly WorkspaceRoot[];
  /** Stores a text, in the folder of its session if there is one, and returns its path. Equal texts are stored once. */
  readonly keep: (text: string, name: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/**
 * Opens the folder if it exists; otherwise it is created with the first text, accessible to its owner only. Throws if
 * a link is in its place.
 */
export const openScratchFolder = async (
  disk: Disk,
  requestedPath: string,
  session?: string,
): Promise<ScratchFolder> => {
  const path = join(await canonicalizePath(disk, dirname(resolve(requestedPath))), basename(requestedPath));
  const rootOf = (folder: Folder): WorkspaceRoot => ({
    path,
    requestedPath,
    spellings: [splitPath(path), splitPath(requestedPath)],
    folder,
  });
  const found = await disk.canonicalPath(path);
  if (found !== undefined && found !== path)
    throw new PolicyError("policy_violation", `${quotePath(path)} is a link; no output is stored there.`);
  let root: WorkspaceRoot | undefined = found === undefined ? undefined : rootOf(await disk.openFolder(path));
  let creation: Promise<WorkspaceRoot> | undefined;
  const create = async (): Promise<WorkspaceRoot> => {
    creation ??= makeFolders(disk, path).then((folder) => (root = rootOf(folder)));
    try {
      return await creation;
    } catch (error) {
      creation = undefined;
      throw error;
    }
  };
  return {
    path,
    roots: () => (root === undefined ? [] : [root]),
    keep: async (text, name) => {
      const { folder: scratchFolder } = root ?? (await create());
      const bytes = new TextEncoder().encode(text);
      const file = `${safeFileName(name)}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.txt`;
      if (session === undefined) {
        await writeOnce(scratchFolder, file, bytes);
        return join(path, file);
      }
      await scratchFolder.makeFolder(session, 0o700);
      const folder = await scratchFolder.openFolder(session);
      await writeOnce(folder, file, bytes).finally(() => folder.close());
      return join(path, session, file);
    },
    close: async () => {
      await creation?.catch(() => undefined);
      await root?.folder.close();
    },
  };
};

const writeOnce = async (folder: Folder, name: string, bytes: Uint8Array): Promise<void> => {
  const existing = await folder.stat(name);
  if (existing?.kind !== "file" || existing.size !== bytes.length) await folder.writeFile(name, bytes, 0o600);
};

const safeFileName = (name: string): string =>
  name
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 60) || "text";

/** Follows the links of a path, also where its last parts do not exist yet. */
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
