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

/** Sessions that are longer than this are not read to their middle for a list. */
const maxFullReadBytes = 2 ** 19;

/** A session's file, and when it was last written. */
export type SessionFile = SessionLocation & { readonly modified: number; readonly size: number };

/** The sessions in scope, those last used first. */
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

/** So many at a time that the system is never short of handles. */
const inBatches = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / 64) }, (_, index) => items.slice(index * 64, index * 64 + 64));

/** What a list says of a session; undefined when it is gone. Nothing in the file can make it fail. */
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

const summarizeFile = async (file: FileHandle, found: SessionFile): Promise<SessionSummary> => {
  const { size } = await file.stat();
  const isWhole = size <= maxFullReadBytes;
  const parts = isWhole
    ? [await file.read(0, size)]
    : [await file.read(0, maxFullReadBytes / 2), await file.read(size - maxFullReadBytes / 2, maxFullReadBytes / 2)];
  const scan = scanBytes(Buffer.concat(parts.flatMap((part) => [part, Buffer.from("\n")])), found.id);
  const { turns, ...summary } = summarizeContent(assembleContent(planRepair(scan).lines), found);
  return isWhole && turns !== undefined ? { ...summary, turns } : summary;
};
