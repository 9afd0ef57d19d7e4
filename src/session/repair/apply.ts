import type { AppendHandle, Folder } from "../../world/disk.ts";
import type { SessionContent } from "../log/content.ts";
import { describeDamage } from "./damage.ts";
import { readIdTime } from "../store/id.ts";
import { encodeLine, type LogLine, type ByteRange } from "../log/line.ts";
import type { RepairPlan } from "./plan.ts";
import { formatVersion, type EntryRecord, type SessionHead, type RepairRecord } from "../log/record.ts";

/** A damaged file, and its repair plan. */
export type RepairJob = {
  readonly folder: Folder;
  readonly name: string;
  readonly file: AppendHandle;
  readonly session: string;
  readonly plan: RepairPlan;
  readonly content: SessionContent;
  /** The current time, in milliseconds since 1970. */
  readonly at: number;
};

/** Repairs a file. Bytes it removes are first saved in a file beside it. */
export const repairFile = async (job: RepairJob): Promise<void> => {
  const { folder, name, file, plan } = job;
  const { action } = plan;
  switch (action.type) {
    case "none":
      return;
    case "cut":
      await saveDamagedBytes(job, action.cutRanges);
      await file.truncate(action.at);
      await file.append(Buffer.from("\n"));
      return file.flush();
    case "rewrite":
      await saveDamagedBytes(job, action.cutRanges);
      await folder.writeFile(name, Buffer.from(encodeRepaired(job)), 0o600);
      return;
  }
};

/** Creates a head for a session that lost its own. */
export const createFallbackHead = (id: string): SessionHead => ({
  kind: "head",
  version: formatVersion,
  id,
  created: Math.floor(readIdTime(id)),
  root: "",
});

const saveDamagedBytes = async ({ folder, name, file }: RepairJob, ranges: readonly ByteRange[]): Promise<void> => {
  if (ranges.length === 0) return;
  const parts = await Promise.all(ranges.map(({ start, end }) => file.read(start, end - start)));
  let number = 1;
  while ((await folder.stat(`${name}.damaged-${number}`)) !== undefined) number += 1;
  const bytes = Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("\n"), part])));
  await folder.writeFile(`${name}.damaged-${number}`, bytes, 0o600);
};

type RewrittenLine = { readonly at: number; readonly text: string };

/** Encodes the records with new sequence numbers, notices in place of lost entries, and a repair record at the end. */
const encodeRepaired = ({ session, plan, content, at }: RepairJob): string => {
  const { lines, damage } = plan;
  const head = content.head === undefined ? [{ at, text: JSON.stringify(createFallbackHead(session)) }] : [];
  const repair: RepairRecord = { kind: "repair", found: damage.map(describeDamage) };
  const rows: readonly RewrittenLine[] = [
    ...head,
    ...renumberEntries(lines, content),
    { at, text: JSON.stringify(repair) },
  ];
  return rows.map((row, index) => encodeLine({ ...row, session, sequence: index + 1 })).join("");
};

const renumberEntries = (
  lines: readonly LogLine[],
  { entries, lostEntries: lost }: SessionContent,
): readonly RewrittenLine[] => {
  let index = 0;
  return lines.flatMap(({ at, text }): readonly RewrittenLine[] => {
    const [start] = /^\{"kind":"entry","index":\d+/.exec(text) ?? [];
    if (start === undefined) return [{ at, text }];
    const rows: RewrittenLine[] = [];
    for (; lost.has(index); index++) {
      const entry = entries[index];
      if (entry === undefined) break;
      const record: EntryRecord = { kind: "entry", index, entry };
      rows.push({ at, text: JSON.stringify(record) });
    }
    rows.push({ at, text: `{"kind":"entry","index":${index}${text.slice(start.length)}` });
    index += 1;
    return rows;
  });
};
