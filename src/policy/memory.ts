import { join } from "node:path";
import { DiskError, type Disk, type Folder } from "../world/disk.ts";
import { ensureFolderPath } from "../world/ensure-folder.ts";
import { PolicyError } from "./error.ts";
import { explainDiskError } from "./workspace/disk-errors.ts";

/** Larger memory files are not read: they would fill every prompt. */
const maxBytes = 2 ** 20;

/** Opens the memory file: one text in Parley's own folder, never reached through a link. */
export const openMemory = (
  disk: Disk,
  folder: string,
  name = "PARLEY.md",
): {
  readonly path: string;
  readonly read: () => Promise<string | undefined>;
  readonly write: (text: string) => Promise<void>;
} => {
  const path = join(folder, name);
  const withFolder = async <Result>(work: (opened: Folder) => Promise<Result>): Promise<Result> => {
    const opened = await disk.openFolder(folder);
    try {
      const entry = await opened.stat(name);
      if (entry !== undefined && entry.kind !== "file")
        throw new PolicyError(
          "not_a_regular_file",
          `The memory file ${path} is not a regular file; it was not changed.`,
        );
      return await work(opened);
    } finally {
      await opened.close();
    }
  };
  return {
    path,
    read: async () => {
      try {
        return await withFolder((opened) => readText(opened, name));
      } catch (error) {
        if (error instanceof DiskError && error.code === "ENOENT") return undefined;
        throw explainDiskError(error, path, "read");
      }
    },
    write: async (text) => {
      try {
        await ensureFolderPath(disk, folder);
        await withFolder((opened) => opened.writeFile(name, Buffer.from(text), 0o600));
      } catch (error) {
        throw explainDiskError(error, path, "write");
      }
    },
  };
};

const readText = async (folder: Folder, name: string): Promise<string | undefined> => {
  const entry = await folder.stat(name);
  if (entry === undefined) return undefined;
  if (entry.size > maxBytes)
    throw new PolicyError("file_too_large", `The memory file ${join(folder.path, name)} is too large to read.`);
  const file = await folder.openFile(name);
  try {
    return new TextDecoder().decode(await file.read(0, entry.size));
  } finally {
    await file.close();
  }
};
