import { createHash } from "node:crypto";
import type { Blobs, Entry } from "../../conversation/entry.ts";
import type { Media } from "../../conversation/parts.ts";
import type { Folder } from "../../world/disk.ts";
import type { SessionDamage } from "../repair/damage.ts";
import { ensureSubfolder, withFolder } from "./folders.ts";

/** The folder beside a project's sessions that stores blobs under their hash. */
export const blobFolder = "blobs";

/** Writes and flushes blobs that are not stored yet. Existing blobs are not touched. */
export const storeBlobs = async (project: Folder, blobs: Blobs): Promise<void> => {
  const hashes = Object.keys(blobs).filter(isHash);
  if (hashes.length === 0) return;
  await withFolder(await ensureSubfolder(project, blobFolder), async (folder) => {
    for (const hash of hashes) {
      const bytes = Buffer.from(blobs[hash] ?? "", "base64");
      const existing = await folder.stat(hash);
      if (existing?.kind === "file" && existing.size === bytes.length) continue;
      await folder.writeFile(hash, bytes, 0o600);
      // The process that created the folder may have ended before its directory entry was flushed.
      await project.flush();
    }
  });
};

/** Loads the blobs that entries refer to, and reports those that are missing or do not match their hash. */
export const loadBlobs = async (
  project: Folder,
  entries: readonly Entry[],
): Promise<{ readonly blobs: Blobs; readonly missing: readonly SessionDamage[] }> => {
  const wanted = listBlobMedia(entries);
  if (wanted.size === 0) return { blobs: {}, missing: [] };
  const blobs: { [hash: string]: string } = {};
  const missing: SessionDamage[] = [];
  const folder = await project.openFolder(blobFolder).catch(() => undefined);
  for (const [hash, media] of wanted) {
    const bytes = folder === undefined ? undefined : await readVerified(folder, hash);
    if (bytes === undefined) missing.push({ kind: "missing-blob", id: media.id, hash, what: describeMedia(media) });
    else blobs[hash] = bytes.toString("base64");
  }
  await folder?.close();
  return { blobs, missing };
};

/** The media of entries whose bytes are blobs, by hash. */
export const listBlobMedia = (entries: readonly Entry[]): ReadonlyMap<string, Media> =>
  new Map(entries.flatMap(listMedia).flatMap((media) => listHashes(media).map((hash) => [hash, media])));

/** Finds all blob hashes in the text of a session file, including records of a later version. */
export const findBlobHashes = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/"hash":"([0-9a-f]{64})"/g)].map(([, hash = ""]) => hash));

/** Lists all media of an entry, in order. */
const listMedia = (entry: Entry): readonly Media[] => {
  switch (entry.type) {
    case "user":
      return entry.parts.filter((part) => part.type === "media");
    case "model":
      return entry.parts.filter((part) => part.type === "media");
    case "completion":
      return entry.outcome.content.filter((part) => part.type === "media");
    case "copy":
      return [entry.media];
    case "compaction":
    case "notice":
      return [];
  }
};

/** Names a medium in a message for the user. */
export const describeMedia = ({ kind, id, name, mimeType }: Media): string =>
  `${kind} ${id}${name === undefined ? "" : ` "${name}"`} (${mimeType})`;

const listHashes = ({ source }: Media): readonly string[] => (source.type === "blob" ? [source.hash] : []);
const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

const readVerified = async (folder: Folder, hash: string): Promise<Buffer | undefined> => {
  const file = isHash(hash) ? await folder.openFile(hash).catch(() => undefined) : undefined;
  if (file === undefined) return undefined;
  try {
    const read = await file.read(0, (await file.stat()).size);
    const isIntact = createHash("sha256").update(read).digest("hex") === hash;
    return isIntact ? Buffer.from(read.buffer, read.byteOffset, read.byteLength) : undefined;
  } finally {
    await file.close();
  }
};
