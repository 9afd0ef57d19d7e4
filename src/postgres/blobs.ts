import { createHash } from "node:crypto";
import type { Blobs, Entry } from "../conversation/entry.ts";
import { listBlobMedia, describeMedia } from "../session/store/blobs.ts";
import type { SessionDamage } from "../session/repair/damage.ts";
import { ensureFolder, openFolder, withFolder } from "../session/store/folders.ts";
import type { Disk } from "../world/disk.ts";
import { runStatement, type SqlDatabase } from "./database.ts";

/** Where bytes too large for the database are stored, such as a folder all machines share, or an object store. */
export type BlobPlace = {
  /** Stores bytes and returns once they are durable. The same hash may be written again. */
  readonly write: (key: string, bytes: Uint8Array) => Promise<void>;
  /** Returns the bytes; undefined if there are none. */
  readonly read: (key: string) => Promise<Uint8Array | undefined>;
  readonly remove: (key: string) => Promise<void>;
};

/** The largest blob that is stored in the database if there is another place. */
const maxDatabaseBlob: number = 2 ** 20;

/** Opens a folder as the place of large blobs. All machines must see the same one. */
export const openBlobFolder = (disk: Disk, path: string): BlobPlace => ({
  write: async (key, bytes) =>
    withFolder(await ensureFolder(disk, path), async (folder) => {
      await folder.writeFile(key, bytes, 0o600);
    }),
  read: async (key) => {
    const folder = await openFolder(disk, path);
    if (folder === undefined) return undefined;
    return withFolder(folder, async (open) => {
      const file = await open.openFile(key).catch(() => undefined);
      if (file === undefined) return undefined;
      try {
        return await file.read(0, (await file.stat()).size);
      } finally {
        await file.close();
      }
    });
  },
  remove: async (key) => {
    const folder = await openFolder(disk, path);
    if (folder !== undefined) await withFolder(folder, (open) => open.remove(key));
  },
});

/** The blobs of a tenant. */
export type BlobOwner = {
  readonly database: SqlDatabase;
  readonly tenant: string;
  readonly place?: BlobPlace | undefined;
};

/** Stores blobs and records that this session uses them. */
export const storeSessionBlobs = async (
  { database, tenant, place }: BlobOwner,
  session: string,
  blobs: Blobs,
): Promise<void> => {
  for (const [hash, base64] of Object.entries(blobs)) {
    if (!/^[0-9a-f]{64}$/.test(hash)) continue;
    const bytes = Buffer.from(base64, "base64");
    const key = place !== undefined && bytes.length > maxDatabaseBlob ? placeKey(tenant, hash) : undefined;
    if (key !== undefined) await place?.write(key, bytes);
    await runStatement(database, "select parley.store_blob($1, $2, $3, $4, $5)", [
      tenant,
      session,
      hash,
      key === undefined ? bytes : null,
      key ?? null,
    ]);
  }
};

/** Loads the blobs that entries refer to, and reports those that are missing or do not match their hash. */
export const loadSessionBlobs = async (
  owner: BlobOwner,
  entries: readonly Entry[],
): Promise<{ readonly blobs: Blobs; readonly missing: readonly SessionDamage[] }> => {
  const wanted = listBlobMedia(entries);
  if (wanted.size === 0) return { blobs: {}, missing: [] };
  const stored = await readBlobs(owner, [...wanted.keys()]);
  const missing = [...wanted]
    .filter(([hash]) => !stored.has(hash))
    .map(([hash, media]): SessionDamage => ({ kind: "missing-blob", id: media.id, hash, what: describeMedia(media) }));
  const blobs = Object.fromEntries([...stored].map(([hash, bytes]) => [hash, bytes.toString("base64")]));
  return { blobs, missing };
};

/** Reads the bytes of blobs by hash, without those that are missing or damaged. */
export const readBlobs = async (
  { database, tenant, place }: BlobOwner,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> => {
  const found = new Map<string, Buffer>();
  for (const hash of hashes) {
    const [row] = await runStatement(database, "select bytes, place from parley.blob where tenant = $1 and hash = $2", [
      tenant,
      hash,
    ]);
    const bytes = typeof row?.["place"] === "string" ? await place?.read(row["place"]) : row?.["bytes"];
    if (!(bytes instanceof Uint8Array)) continue;
    if (createHash("sha256").update(bytes).digest("hex") === hash)
      found.set(hash, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  return found;
};

/** The name of a large blob: tenants do not share one, and a tenant's name may hold any character. */
const placeKey = (tenant: string, hash: string): string =>
  `${createHash("sha256").update(tenant).digest("hex").slice(0, 16)}-${hash}`;
