import type { FileHandle, Folder } from "../world/disk.ts";
import { contentOf } from "./content.ts";
import { folderAt, within } from "./folders.ts";
import { mend } from "./mend.ts";
import { fileName, idsIn, projectPaths, type Place, type Scope } from "./place.ts";
import { scanBytes } from "./scan.ts";
import { summarise, type Summary } from "./summary.ts";

/** Sessions that are longer than this are not read to their middle for a list. */
const readWhole = 2 ** 19;

/** A session's file, and when it was last written. */
export type Found = Place & { readonly modified: number; readonly size: number };

/** The sessions in scope, those last used first. */
export const foundIn = async (scope: Scope): Promise<readonly Found[]> => {
  const found: Found[] = [];
  for (const path of await projectPaths(scope)) {
    const ids = await idsIn(scope.disk, path);
    const folder = ids.length === 0 ? undefined : await folderAt(scope.disk, path);
    if (folder === undefined) continue;
    await within(folder, async (open) => {
      for (const group of grouped(ids))
        found.push(...(await Promise.all(group.map((id) => lookAt(open, path, id)))).flat());
    });
  }
  return found.toSorted((one, other) => other.modified - one.modified || (one.id < other.id ? 1 : -1));
};

const lookAt = async (folder: Folder, path: string, id: string): Promise<readonly Found[]> => {
  const entry = await folder.look(fileName(id));
  return entry === undefined ? [] : [{ path, id, modified: entry.modified, size: entry.size }];
};

/** So many at a time that the system is never short of handles. */
const grouped = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / 64) }, (_, index) => items.slice(index * 64, index * 64 + 64));

/** What a list says of a session; undefined when it is gone. Nothing in the file can make it fail. */
export const summaryAt = async (scope: Scope, found: Found): Promise<Summary | undefined> => {
  const folder = await folderAt(scope.disk, found.path);
  if (folder === undefined) return undefined;
  return within(folder, async (open) => {
    const file = await open.file(fileName(found.id)).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      return await summaryIn(file, found);
    } finally {
      await file.close();
    }
  });
};

const summaryIn = async (file: FileHandle, found: Found): Promise<Summary> => {
  const { size } = await file.look();
  const isWhole = size <= readWhole;
  const parts = isWhole
    ? [await file.read(0, size)]
    : [await file.read(0, readWhole / 2), await file.read(size - readWhole / 2, readWhole / 2)];
  const scan = scanBytes(Buffer.concat(parts.flatMap((part) => [part, Buffer.from("\n")])), found.id);
  const { turns, ...summary } = summarise(contentOf(mend(scan).lines), found);
  return isWhole && turns !== undefined ? { ...summary, turns } : summary;
};
