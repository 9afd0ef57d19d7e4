import { join } from "node:path";
import type { Blobs, Conversation, ToolDeclaration } from "../../conversation/entry.ts";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { storeBlobs } from "./blobs.ts";
import { ensureFolder } from "./folders.ts";
import { createSessionId } from "./id.ts";
import { encodeDrafts, type RecordDraft } from "../log/log.ts";
import { acquireSessionLock, type ReleaseLock } from "./lock.ts";
import { sessionFileName } from "./locate.ts";
import { projectFolderName } from "./project-folder.ts";
import {
  formatVersion,
  type SessionHead,
  type ImportSource,
  type RecordedModel,
  type NewRecord,
} from "../log/record.ts";
import { draftRecord } from "../session.ts";

/** The initial state of a session. */
export type NewSession = {
  /** The project's folder, as a canonical path. */
  readonly root: string;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly model?: RecordedModel;
  readonly source?: ImportSource;
  /** Records written together with the head. */
  readonly records?: readonly NewRecord[];
  readonly blobs?: Blobs;
};

/** The facts a session records besides the conversation it is created from. */
export type ConversationFacts = {
  readonly root: string;
  readonly model?: RecordedModel;
  readonly title?: string;
  readonly source?: ImportSource;
};

/** Creates the initial state of a session from a saved conversation. */
export const newSessionFromConversation = (
  { system, tools, entries, blobs }: Conversation,
  { root, model, title, source }: ConversationFacts,
): NewSession => ({
  root,
  ...(system === undefined ? {} : { system }),
  ...(tools === undefined ? {} : { tools }),
  ...(model === undefined ? {} : { model }),
  ...(source === undefined ? {} : { source }),
  records: [
    ...entries.map((entry) => ({ kind: "entry", entry }) as const),
    ...(title === undefined ? [] : [{ kind: "title", title } as const]),
  ],
  blobs,
});

/** The file of a new session, locked. */
export type CreatedSessionFile = { readonly folder: Folder; readonly id: string; readonly release: ReleaseLock };

/** Creates a session file with all of its initial records, or none. */
export const createSessionFile = async (world: World, base: string, start: NewSession): Promise<CreatedSessionFile> => {
  const folder = await ensureFolder(world.disk, join(base, projectFolderName(start.root)));
  try {
    const { id, release } = await reserveId(world, folder);
    try {
      await storeBlobs(folder, start.blobs ?? {});
      await folder.writeFile(
        sessionFileName(id),
        Buffer.from(encodeFirstLines(start, id, Math.max(0, Math.floor(world.clock.now())))),
        0o600,
      );
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

/** Reserves an unused id. The id is locked before it is checked, so two processes never reserve the same one. */
const reserveId = async (
  world: World,
  folder: Folder,
): Promise<{ readonly id: string; readonly release: ReleaseLock }> => {
  for (;;) {
    const id = createSessionId(world.clock.now(), world.random);
    const release = await acquireSessionLock(world, folder, id);
    if ((await folder.stat(sessionFileName(id))) === undefined) return { id, release };
    await release();
  }
};

const encodeFirstLines = (start: NewSession, id: string, at: number): string =>
  encodeDrafts(draftFirstRecords(start, id, at), { session: id, at, sequence: 0, entries: 0 }).text;

/** The records of a new session: its head, and those it starts with. */
export const draftFirstRecords = (
  { root, system, tools, model, source, records = [] }: NewSession,
  id: string,
  at: number,
): readonly RecordDraft[] => {
  const head: SessionHead = {
    kind: "head",
    version: formatVersion,
    id,
    created: at,
    root,
    ...(source === undefined ? {} : { source }),
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
  };
  return [{ record: JSON.stringify(head) }, ...records.map(draftRecord)];
};
