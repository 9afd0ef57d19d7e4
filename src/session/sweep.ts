import { isTemporaryName } from "../world/disk-names.ts";
import type { Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { blobFolder, hashesIn } from "./blobs.ts";
import { within } from "./folders.ts";
import { occupyAll } from "./occupy.ts";
import { namesOf } from "./place.ts";

/**
 * Removes the blobs of a project that none of its files names, and what a killed program left half written. While
 * any of its sessions is open, it leaves that for another time: somebody may be about to name one.
 */
export const sweep = async (world: World, project: Folder): Promise<void> => {
  const blobs = await project.look(blobFolder);
  const files = await namesOf(project, "file");
  if (blobs?.kind !== "folder" && !files.some(isTemporaryName)) return;
  const release = await occupyAll(world, project);
  if (release === undefined) return;
  try {
    for (const name of files.filter(isTemporaryName)) await project.remove(name);
    if (blobs?.kind === "folder")
      await within(await project.folder(blobFolder), (folder) => sweepBlobs(project, folder));
  } finally {
    await release();
  }
};

const sweepBlobs = async (project: Folder, blobs: Folder): Promise<void> => {
  const named = new Set<string>();
  for (const name of await namesOf(project, "file"))
    for (const hash of hashesIn(await textIn(project, name))) named.add(hash);
  for (const name of await namesOf(blobs, "file")) if (!named.has(name)) await blobs.remove(name);
};

const textIn = async (folder: Folder, name: string): Promise<string> => {
  const file = await folder.file(name);
  try {
    return Buffer.from(await file.read(0, (await file.look()).size)).toString("latin1");
  } finally {
    await file.close();
  }
};
