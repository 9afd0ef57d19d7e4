import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { readText } from "./sync-file-calls.ts";
import type { PrivateFiles } from "../world.ts";

/** Files on the disk. */
export const realPrivateFiles: PrivateFiles = {
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
    const fresh = `${path}.${randomBytes(6).toString("hex")}`;
    try {
      await writeFile(fresh, text, { mode: 0o600, flag: "wx", flush: true });
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  },
  remove: (path) => rm(path, { force: true }),
};

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
