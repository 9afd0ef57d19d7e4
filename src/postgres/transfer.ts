import { findBlobHashes } from "../session/store/blobs.ts";
import { SessionError } from "../session/error.ts";
import { scanBytes } from "../session/log/scan.ts";
import { parseRecord } from "../session/log/content.ts";
import { describeDamage } from "../session/repair/damage.ts";
import { planRepair } from "../session/repair/plan.ts";
import { formatVersion } from "../session/log/record.ts";
import { readBlobs, storeSessionBlobs, type BlobOwner } from "./blobs.ts";
import { insertSession } from "./create.ts";
import { runStatement } from "./database.ts";
import { computeChecksum } from "../session/log/line.ts";
import { exportLines, readRecordRows, type SessionKey } from "./load.ts";

/** A session in the form of files. */
export type ExportedSession = {
  readonly id: string;
  /** The bytes of its session file. */
  readonly log: Buffer;
  /** The bytes of its blobs, by hash. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** The hashes of blobs it refers to that are not there. */
  readonly missing: readonly string[];
};

/** Reads a session as the file the file store would have written, byte for byte, with its blobs. */
export const exportSession = async (owner: BlobOwner, id: string): Promise<ExportedSession> => {
  const key = { tenant: owner.tenant, id };
  const lines: string[] = [];
  for await (const line of exportLines(owner.database, key)) lines.push(line);
  if (lines.length === 0) throw new SessionError({ kind: "not-found", id });
  const text = lines.join("");
  const hashes = [...findBlobHashes(text)];
  const blobs = await readBlobs(owner, hashes);
  return { id, log: Buffer.from(text), blobs, missing: hashes.filter((hash) => !blobs.has(hash)) };
};

/** A session to import. */
export type SessionFileContents = {
  readonly name: string;
  readonly log: Uint8Array;
  readonly readBlob: (hash: string) => Promise<Uint8Array | undefined>;
};

/** The result of an import; `exists` if there is a session with this id already. */
export type ImportResult = { readonly id: string; readonly result: "imported" | "exists" };

/** Imports a session file as it is. Refuses a damaged one, since what is exported must equal what was imported. */
export const importSession = async (
  owner: BlobOwner,
  { name, log, readBlob }: SessionFileContents,
): Promise<ImportResult> => {
  const scan = scanBytes(log, name);
  const id = scan.session;
  if (scan.version !== undefined && scan.version > formatVersion)
    throw new SessionError({ kind: "too-new", id, version: scan.version });
  const { lines, damage, action } = planRepair(scan);
  const isWhole = action.type === "none" && lines.length > 0 && lines.every(({ sequence }, at) => sequence === at + 1);
  if (!isWhole)
    throw new SessionError({
      kind: "database",
      code: "damaged file",
      message: `${name} is damaged: ${damage.map(describeDamage).join(" ")} Run "parley sessions repair ${id}" first`,
    });
  const head = parseRecord(lines[0]?.text ?? "{}");
  const root = head.kind === "head" ? head.root : "";
  const [known] = await runStatement(owner.database, "select id from parley.session where tenant = $1 and id = $2", [
    owner.tenant,
    id,
  ]);
  if (known !== undefined) return { id, result: "exists" };
  for (const hash of findBlobHashes(Buffer.from(log).toString("utf8"))) {
    const bytes = await readBlob(hash);
    if (bytes !== undefined) await storeSessionBlobs(owner, id, { [hash]: Buffer.from(bytes).toString("base64") });
  }
  const result = await insertSession(owner, { id, root, records: lines });
  return { id, result: result === "inserted" ? "imported" : "exists" };
};

/** One finding of a check of the store. */
export type StoreFinding = { readonly tenant: string; readonly id: string; readonly problem: string };

/** Checks every session of a tenant, or of all: checksums, sequence numbers, counters, blobs, owners. */
export const checkStore = async function* (
  owner: Omit<BlobOwner, "tenant"> & { readonly tenant?: string | undefined },
): AsyncGenerator<StoreFinding | { readonly checked: number }> {
  let checked = 0;
  for (let after: readonly [string, string] = ["", ""]; ;) {
    const rows = await runStatement(
      owner.database,
      `select s.tenant, s.id, s.sequence, s.entries, s.unread, s.state, s.owner,
          (select count(*) from parley.inbox i where i.tenant = s.tenant and i.session = s.id and i.taken is null) as waiting,
          s.owner is not null and not exists (select from parley.worker w where w.id = s.owner) as is_orphan
        from parley.session s where ($1::text is null or s.tenant = $1) and (s.tenant, s.id) > ($2, $3)
        order by s.tenant, s.id limit 200`,
      [owner.tenant ?? null, after[0], after[1]],
    );
    for (const row of rows) {
      const key = { tenant: String(row["tenant"]), id: String(row["id"]) };
      after = [key.tenant, key.id];
      checked += 1;
      const problems: string[] = [];
      const found = await checkRecords(owner, key);
      // An open session may have grown since its row was read.
      if (
        found.sequence < Number(row["sequence"]) ||
        (row["owner"] === null && found.sequence > Number(row["sequence"]))
      )
        problems.push(`it should have ${String(row["sequence"])} records, and has ${found.sequence}`);
      if (row["owner"] === null && found.entries !== Number(row["entries"]))
        problems.push(`it should have ${String(row["entries"])} entries, and has ${found.entries}`);
      if (Number(row["waiting"]) !== Number(row["unread"]))
        problems.push(`${String(row["waiting"])} commands wait, and ${String(row["unread"])} are counted`);
      if (row["is_orphan"] === true) problems.push("its worker is gone; the next one that starts frees it");
      for (const problem of [...found.problems, ...problems]) yield { ...key, problem };
    }
    if (rows.length < 200) break;
  }
  yield { checked };
};

const checkRecords = async (
  owner: Omit<BlobOwner, "tenant">,
  key: SessionKey,
): Promise<{ readonly sequence: number; readonly entries: number; readonly problems: readonly string[] }> => {
  const problems: string[] = [];
  const hashes = new Set<string>();
  let sequence = 0;
  let entries = 0;
  let fence = 0;
  for await (const row of readRecordRows(owner.database, key)) {
    sequence += 1;
    if (row.sequence !== sequence) problems.push(`record ${sequence} is missing`);
    sequence = row.sequence;
    if (row.fence < fence) problems.push(`record ${sequence} was written under an older ownership than the one before`);
    fence = row.fence;
    const sum = computeChecksum({ session: key.id, sequence, at: row.at }, Buffer.from(row.text));
    if (sum !== row.checksum) problems.push(`record ${sequence} does not match its checksum`);
    if (row.text.startsWith('{"kind":"entry"')) entries += 1;
    for (const hash of findBlobHashes(row.text)) hashes.add(hash);
  }
  const blobs = await readBlobs({ ...owner, tenant: key.tenant }, [...hashes]);
  for (const hash of hashes) if (!blobs.has(hash)) problems.push(`blob ${hash.slice(0, 12)} is missing or damaged`);
  return { sequence, entries, problems };
};

/** Lists idle sessions that were not used since a time, oldest first. */
export const listOldSessions = async (
  { database, tenant }: BlobOwner,
  before: number,
): Promise<readonly { readonly id: string; readonly root: string }[]> => {
  const rows = await runStatement(
    database,
    "select id, project from parley.session where tenant = $1 and state = 'idle' and modified < $2 order by modified",
    [tenant, before],
  );
  return rows.map((row) => ({ id: String(row["id"]), root: String(row["project"]) }));
};
