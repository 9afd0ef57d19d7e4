import type { FileHandle, Folder } from "../../world/disk.ts";
import { assembleContent } from "../log/content.ts";
import { openFolder, withFolder } from "./folders.ts";
import { planRepair } from "../repair/plan.ts";
import {
  sessionFileName,
  listSessionIds,
  listProjectFolders,
  type SessionLocation,
  type SessionScope,
} from "./locate.ts";
import { scanBytes } from "../log/scan.ts";
import { summarizeContent, type SessionSummary } from "./summary.ts";

/** Of longer files, only the beginning and the end are read for a list. */
const maxFullReadBytes = 2 ** 19;

/** A session file with its size and modification time. */
export type SessionFile = SessionLocation & { readonly modified: number; readonly size: number };

/** Finds the session files in scope, most recently used first. */
export const findSessionFiles = async (scope: SessionScope): Promise<readonly SessionFile[]> => {
  const found: SessionFile[] = [];
  for (const path of await listProjectFolders(scope)) {
    const ids = await listSessionIds(scope.disk, path);
    const folder = ids.length === 0 ? undefined : await openFolder(scope.disk, path);
    if (folder === undefined) continue;
    await withFolder(folder, async (open) => {
      for (const group of inBatches(ids))
        found.push(...(await Promise.all(group.map((id) => statSession(open, path, id)))).flat());
    });
  }
  return found.toSorted((one, other) => other.modified - one.modified || (one.id < other.id ? 1 : -1));
};

const statSession = async (folder: Folder, path: string, id: string): Promise<readonly SessionFile[]> => {
  const entry = await folder.stat(sessionFileName(id));
  return entry === undefined ? [] : [{ path, id, modified: entry.modified, size: entry.size }];
};

/** Splits a list into batches of 64, to limit the number of open file handles. */
const inBatches = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / 64) }, (_, index) => items.slice(index * 64, index * 64 + 64));

/** Summarizes a session file; undefined if it no longer exists or no prompt was ever sent in it. Damage never makes it fail. */
export const readSummary = async (scope: SessionScope, found: SessionFile): Promise<SessionSummary | undefined> => {
  const folder = await openFolder(scope.disk, found.path);
  if (folder === undefined) return undefined;
  return withFolder(folder, async (open) => {
    const file = await open.openFile(sessionFileName(found.id)).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      return await summarizeFile(file, found);
    } finally {
      await file.close();
    }
  });
};

const summarizeFile = async (file: FileHandle, found: SessionFile): Promise<SessionSummary | undefined> => {
  const { size } = await file.stat();
  const isFullRead = size <= maxFullReadBytes;
  const parts = isFullRead
    ? [await file.read(0, size)]
    : [await file.read(0, maxFullReadBytes / 2), await file.read(size - maxFullReadBytes / 2, maxFullReadBytes / 2)];
  const scan = scanBytes(Buffer.concat(parts.flatMap((part) => [part, Buffer.from("\n")])), found.id);
  const content = assembleContent(planRepair(scan).lines);
  const { turns, ...summary } = summarizeContent(content, found);
  // A damaged session is listed even if no prompt is readable: it may be repaired.
  const isUnused = isFullRead && turns === 0 && content.title === undefined && scan.junk.length === 0;
  if (isUnused && content.entries.every(({ type }) => type === "notice")) return undefined;
  return isFullRead && turns !== undefined ? { ...summary, turns } : summary;
};
