import type { AppendHandle, Folder } from "../../world/disk.ts";
import type { SessionContent } from "../log/content.ts";
import { describeDamage } from "./damage.ts";
import { readIdTime } from "../store/id.ts";
import { encodeLine, type LogLine, type ByteRange } from "../log/line.ts";
import type { RepairPlan } from "./plan.ts";
import { formatVersion, type EntryRecord, type SessionHead, type RepairRecord } from "../log/record.ts";

/** A file with something wrong, and all that is known of it. */
export type RepairJob = {
  readonly folder: Folder;
  readonly name: string;
  readonly file: AppendHandle;
  readonly session: string;
  readonly plan: RepairPlan;
  readonly content: SessionContent;
  /** When this happens. */
  readonly at: number;
};

/** Makes a file whole. What is cut out of it is first kept in a file beside it. */
export const repairFile = async (patient: RepairJob): Promise<void> => {
  const { folder, name, file, plan: mended } = patient;
  const { action: cure } = mended;
  switch (cure.type) {
    case "none":
      return;
    case "cut":
      await saveDamagedBytes(patient, cure.cutRanges);
      await file.truncate(cure.at);
      await file.append(Buffer.from("\n"));
      return file.flush();
    case "rewrite":
      await saveDamagedBytes(patient, cure.cutRanges);
      await folder.writeFile(name, Buffer.from(encodeRepaired(patient)), 0o600);
      return;
  }
};

/** The head of a session whose own is lost. */
export const createFallbackHead = (id: string): SessionHead => ({
  kind: "head",
  version: formatVersion,
  id,
  created: Math.floor(readIdTime(id)),
  root: "",
});

const saveDamagedBytes = async ({ folder, name, file }: RepairJob, away: readonly ByteRange[]): Promise<void> => {
  if (away.length === 0) return;
  const parts = await Promise.all(away.map(({ start, end }) => file.read(start, end - start)));
  let number = 1;
  while ((await folder.stat(`${name}.damaged-${number}`)) !== undefined) number += 1;
  const bytes = Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("\n"), part])));
  await folder.writeFile(`${name}.damaged-${number}`, bytes, 0o600);
};

type RewrittenLine = { readonly at: number; readonly text: string };

/** The same records, numbered anew; notices where entries are lost; and at the end what was found. */
const encodeRepaired = ({ session, plan: mended, content, at }: RepairJob): string => {
  const { lines, damage: findings } = mended;
  const head = content.head === undefined ? [{ at, text: JSON.stringify(createFallbackHead(session)) }] : [];
  const repair: RepairRecord = { kind: "repair", found: findings.map(describeDamage) };
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
  let place = 0;
  return lines.flatMap(({ at, text }): readonly RewrittenLine[] => {
    const [start] = /^\{"kind":"entry","index":\d+/.exec(text) ?? [];
    if (start === undefined) return [{ at, text }];
    const rows: RewrittenLine[] = [];
    for (; lost.has(place); place++) {
      const entry = entries[place];
      if (entry === undefined) break;
      const made: EntryRecord = { kind: "entry", index: place, entry };
      rows.push({ at, text: JSON.stringify(made) });
    }
    rows.push({ at, text: `{"kind":"entry","index":${place}${text.slice(start.length)}` });
    place += 1;
    return rows;
  });
};
