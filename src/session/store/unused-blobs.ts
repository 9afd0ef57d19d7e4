import { isTempName } from "../../world/file-names.ts";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { blobFolder, findBlobHashes } from "./blobs.ts";
import { withFolder } from "./folders.ts";
import { acquireProjectLock } from "./lock.ts";
import { listNames } from "./locate.ts";

/**
 * Removes blobs of a project that no session refers to, and temporary files of killed processes. Does nothing while a
 * session of the project is open: it may be about to refer to one.
 */
export const removeUnusedBlobs = async (world: World, project: Folder): Promise<void> => {
  const blobs = await project.stat(blobFolder);
  const files = await listNames(project, "file");
  if (blobs?.kind !== "folder" && !files.some(isTempName)) return;
  const release = await acquireProjectLock(world, project);
  if (release === undefined) return;
  try {
    for (const name of files.filter(isTempName)) await project.remove(name);
    if (blobs?.kind === "folder")
      await withFolder(await project.openFolder(blobFolder), (folder) => deleteUnnamedBlobs(project, folder));
  } finally {
    await release();
  }
};

const deleteUnnamedBlobs = async (project: Folder, blobs: Folder): Promise<void> => {
  const named = new Set<string>();
  for (const name of await listNames(project, "file"))
    for (const hash of findBlobHashes(await readLatin1(project, name))) named.add(hash);
  for (const name of await listNames(blobs, "file")) if (!named.has(name)) await blobs.remove(name);
};

const readLatin1 = async (folder: Folder, name: string): Promise<string> => {
  const file = await folder.openFile(name);
  try {
    return Buffer.from(await file.read(0, (await file.stat()).size)).toString("latin1");
  } finally {
    await file.close();
  }
};
