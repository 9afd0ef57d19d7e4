import { join } from "node:path";
import type { Blobs, Conversation, ToolDeclaration } from "../conversation/entry.ts";
import type { Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { keepBlobs } from "./blobs.ts";
import { madeFolder } from "./folders.ts";
import { newId } from "./id.ts";
import { encodeDrafts } from "./log.ts";
import { occupy, type Release } from "./occupy.ts";
import { fileName } from "./place.ts";
import { projectName } from "./project.ts";
import { formatVersion, type Head, type ModelName, type NewRecord } from "./record.ts";
import { draftOf } from "./session.ts";

/** What a session begins with. */
export type NewSession = {
  /** The project's folder, as a canonical path. */
  readonly root: string;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly model?: ModelName;
  /** What is written with the first line, in one go. */
  readonly records?: readonly NewRecord[];
  readonly blobs?: Blobs;
};

/** A session to begin with all that a saved conversation holds. */
export const sessionFrom = (
  { system, tools, entries, blobs }: Conversation,
  { root, model, title }: { readonly root: string; readonly model?: ModelName; readonly title?: string },
): NewSession => ({
  root,
  ...(system === undefined ? {} : { system }),
  ...(tools === undefined ? {} : { tools }),
  ...(model === undefined ? {} : { model }),
  records: [
    ...entries.map((entry) => ({ kind: "entry", entry }) as const),
    ...(title === undefined ? [] : [{ kind: "title", title } as const]),
  ],
  blobs,
});

/** The file of a new session, ours alone. */
export type Created = { readonly folder: Folder; readonly id: string; readonly release: Release };

/** Makes the file of a session: all of what it begins with, or nothing. */
export const createFile = async (world: World, base: string, start: NewSession): Promise<Created> => {
  const folder = await madeFolder(world.disk, join(base, projectName(start.root)));
  try {
    const { id, release } = await freshId(world, folder);
    try {
      await keepBlobs(folder, start.blobs ?? {});
      await folder.put(fileName(id), Buffer.from(firstLines(start, id, Math.floor(world.clock.now()))), 0o600);
      return { folder, id, release };
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    await folder.close();
    throw error;
  }
};

/** An id nobody has. It is locked before it is looked for, so no two programs find the same one free. */
const freshId = async (world: World, folder: Folder): Promise<{ readonly id: string; readonly release: Release }> => {
  for (;;) {
    const id = newId(world.clock.now(), world.random);
    const release = await occupy(world, folder, id);
    if ((await folder.look(fileName(id))) === undefined) return { id, release };
    await release();
  }
};

const firstLines = ({ root, system, tools, model, records = [] }: NewSession, id: string, at: number): string => {
  const head: Head = {
    kind: "head",
    version: formatVersion,
    id,
    created: at,
    root,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
  };
  const drafts = [{ record: JSON.stringify(head) }, ...records.map(draftOf)];
  return encodeDrafts(drafts, { session: id, at: Math.max(0, at), sequence: 0, entries: 0 }).text;
};
