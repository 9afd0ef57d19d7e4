import { join } from "node:path";
import type { World } from "../../world/world.ts";
import { parseRecord } from "../log/content.ts";
import type { ImportSource } from "../log/record.ts";
import { scanBytes } from "../log/scan.ts";
import { openFolder, withFolder } from "./folders.ts";
import { findSessionFiles, type SessionFile } from "./list.ts";
import { sessionFileName } from "./locate.ts";

/** A session that was imported from another agent. */
export type ImportedSource = { readonly id: string; readonly source: ImportSource };

/** The head of an imported session has neither a system prompt nor tools, so it is short. */
const maxHeadBytes = 2 ** 13;

/** Lists the sessions that were imported from other agents, most recently used first. */
export const listImportedSources = async (
  { disk }: Pick<World, "disk">,
  home: string,
): Promise<readonly ImportedSource[]> => {
  const imported: ImportedSource[] = [];
  for (const file of await findSessionFiles({ disk, base: join(home, "sessions") })) {
    const source = await readSource(disk, file).catch(() => undefined);
    if (source !== undefined) imported.push({ id: file.id, source });
  }
  return imported;
};

const readSource = async (disk: World["disk"], { path, id }: SessionFile): Promise<ImportSource | undefined> => {
  const folder = await openFolder(disk, path);
  if (folder === undefined) return undefined;
  return withFolder(folder, async (open) => {
    const file = await open.openFile(sessionFileName(id));
    try {
      const [first] = scanBytes(Buffer.from(await file.read(0, maxHeadBytes)), id).lines;
      const head = first === undefined ? undefined : parseRecord(first.text);
      return head?.kind === "head" ? head.source : undefined;
    } finally {
      await file.close();
    }
  });
};
