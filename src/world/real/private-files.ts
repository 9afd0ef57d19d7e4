import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { SyncFileCalls } from "./sync-file-calls.ts";
import type { PrivateFiles } from "../world.ts";

/** Reads and writes settings and secrets on the real disk. */
export const createRealPrivateFiles = ({ readText }: SyncFileCalls): PrivateFiles => ({
  read: async (path) => {
    try {
      return await readText(path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  },
  writePrivate: async (path, text) => {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const temporary = `${path}.${randomBytes(6).toString("hex")}`;
    try {
      await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  },
  remove: (path) => rm(path, { force: true }),
});

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
