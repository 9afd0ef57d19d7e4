import { createHash } from "node:crypto";
import type { PluginTree } from "./tree.ts";

/** Hashes the files of a plugin: their paths, whether they are executable, and every byte. */
export const hashTree = async (tree: PluginTree): Promise<string> => {
  const hash = createHash("sha256");
  for (const { path, isExecutable } of tree.files) {
    const content = createHash("sha256")
      .update(await tree.read(path))
      .digest("hex");
    hash.update(`${JSON.stringify(path)} ${isExecutable ? "x" : "-"} ${content}\n`);
  }
  return hash.digest("hex");
};

/** Hashes the identities of files on disk: equal as long as none of them was touched. */
export const hashIdentities = (tree: PluginTree): string => {
  const hash = createHash("sha256");
  for (const { path, isExecutable, identity } of tree.files)
    hash.update(`${JSON.stringify(path)} ${isExecutable ? "x" : "-"} ${identity}\n`);
  return hash.digest("hex");
};
