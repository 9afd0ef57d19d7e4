import { computeChecksum, frameRecord, type LogLine } from "../session/log/line.ts";
import { assembleContent, type SessionContent } from "../session/log/content.ts";
import { encodeRecords } from "../session/log/log.ts";
import { formatVersion } from "../session/log/record.ts";
import { draftFirstRecords, type NewSession } from "../session/store/create.ts";
import { createSessionId } from "../session/store/id.ts";
import type { World } from "../world/world.ts";
import { storeSessionBlobs, type BlobOwner } from "./blobs.ts";
import { runStatement } from "./database.ts";
import { lostSession } from "./lease.ts";
import { encodeChecksum } from "./load.ts";
import type { SessionClaim } from "./log.ts";
import { SummaryTracker } from "./summary.ts";

/** The start of a session and its first owner. */
export type CreateRowOptions = {
  readonly start: NewSession;
  /** The worker that owns it; without one, it is idle. */
  readonly owner?: string;
  /** The session a subagent's belongs to. */
  readonly parent?: string | undefined;
};

/** A record and its position in a new session. */
type FirstRecord = Pick<LogLine, "sequence" | "at" | "checksum" | "text">;

/** Creates a session with all of its first records, or none. The database makes sure that its id is unique. */
export const createSessionRow = async (
  options: BlobOwner & { readonly world: Pick<World, "clock" | "random"> },
  { start, owner, parent }: CreateRowOptions,
): Promise<SessionClaim> => {
  const { clock, random } = options.world;
  const at = Math.max(0, Math.floor(clock.now()));
  for (;;) {
    const id = createSessionId(clock.now(), random);
    const { texts } = encodeRecords(draftFirstRecords(start, id, at), 0);
    const records = texts.map((text, index): FirstRecord => {
      const position = { session: id, sequence: index + 1, at };
      return { ...position, checksum: computeChecksum(position, Buffer.from(text)), text };
    });
    // Blobs first, as records refer to them.
    await storeSessionBlobs(options, id, start.blobs ?? {});
    const result = await insertSession(options, { id, root: start.root, records, owner, parent });
    if (result === "exists") continue;
    if (result === "not enlisted") throw lostSession(id);
    return { id, fence: 1 };
  }
};

/** A whole session to insert. */
export type InsertedSession = {
  readonly id: string;
  readonly root: string;
  readonly records: readonly FirstRecord[];
  readonly owner?: string | undefined;
  readonly parent?: string | undefined;
};

/** Inserts a session with its records in one transaction. */
export const insertSession = async (
  { database, tenant }: BlobOwner,
  { id, root, records, owner, parent }: InsertedSession,
): Promise<"inserted" | "exists" | "not enlisted"> => {
  const content: SessionContent = assembleContent(records.map((record) => ({ ...record, start: 0, end: 0 })));
  const created = content.head?.created ?? records[0]?.at ?? 0;
  const state = parent !== undefined ? "child" : owner === undefined ? "idle" : "running";
  const [row] = await runStatement(database, insertStatement, [
    owner ?? null,
    tenant,
    id,
    parent ?? null,
    root,
    Math.max(formatVersion, content.head?.version ?? formatVersion),
    state,
    records.length,
    content.entries.length,
    records.reduce((sum, record) => sum + Buffer.byteLength(frameRecord(record)), 0),
    created,
    records.at(-1)?.at ?? 0,
    SummaryTracker.of(content).text,
    records.map(({ sequence }) => sequence),
    records.map(({ at }) => at),
    records.map(({ checksum }) => encodeChecksum(checksum)),
    records.map(({ text }) => text),
  ]);
  if (row?.["is_inserted"] === true) return "inserted";
  return row?.["is_enlisted"] === false ? "not enlisted" : "exists";
};

const insertStatement = `with me as (
  select $1::text as id where $1::text is null or exists (
    select from parley.worker where id = $1 and expires > now() for key share)),
added as (
  insert into parley.session (tenant, id, parent, project, format, state, owner, fence, sequence, entries, bytes, created, modified, summary)
  select $2, $3, $4, $5, $6, $7, $1, 1, $8, $9, $10, $11, $12, $13 from me
  on conflict (tenant, id) do nothing returning id),
kept as (
  insert into parley.record select $2, $3, u.s, 1, u.a, u.x, u.b
  from unnest($14::bigint[], $15::bigint[], $16::int[], $17::text[]) as u(s, a, x, b) where exists (select from added))
select exists (select from added) as is_inserted, exists (select from me) as is_enlisted`;
