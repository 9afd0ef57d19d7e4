import type { AppendHandle, Folder } from "../world/disk.ts";
import type { Content } from "./content.ts";
import { tellFinding } from "./finding.ts";
import { timeOf } from "./id.ts";
import { encodeLine, type Line, type Stretch } from "./line.ts";
import type { Mended } from "./mend.ts";
import { formatVersion, type EntryRecord, type Head, type RepairRecord } from "./record.ts";

/** A file with something wrong, and all that is known of it. */
export type Patient = {
  readonly folder: Folder;
  readonly name: string;
  readonly file: AppendHandle;
  readonly session: string;
  readonly mended: Mended;
  readonly content: Content;
  /** When this happens. */
  readonly at: number;
};

/** Makes a file whole. What is cut out of it is first kept in a file beside it. */
export const heal = async (patient: Patient): Promise<void> => {
  const { folder, name, file, mended } = patient;
  const { cure } = mended;
  switch (cure.type) {
    case "none":
      return;
    case "cut":
      await keepAside(patient, cure.away);
      await file.truncate(cure.at);
      await file.append(Buffer.from("\n"));
      return file.flush();
    case "rewrite":
      await keepAside(patient, cure.away);
      await folder.put(name, Buffer.from(rewritten(patient)), 0o600);
      return;
  }
};

/** The head of a session whose own is lost. */
export const recoveredHead = (id: string): Head => ({
  kind: "head",
  version: formatVersion,
  id,
  created: Math.floor(timeOf(id)),
  root: "",
});

const keepAside = async ({ folder, name, file }: Patient, away: readonly Stretch[]): Promise<void> => {
  if (away.length === 0) return;
  const parts = await Promise.all(away.map(({ start, end }) => file.read(start, end - start)));
  let number = 1;
  while ((await folder.look(`${name}.damaged-${number}`)) !== undefined) number += 1;
  const bytes = Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("\n"), part])));
  await folder.put(`${name}.damaged-${number}`, bytes, 0o600);
};

type Row = { readonly at: number; readonly text: string };

/** The same records, numbered anew; notices where entries are lost; and at the end what was found. */
const rewritten = ({ session, mended, content, at }: Patient): string => {
  const { lines, findings } = mended;
  const head = content.head === undefined ? [{ at, text: JSON.stringify(recoveredHead(session)) }] : [];
  const repair: RepairRecord = { kind: "repair", found: findings.map(tellFinding) };
  const rows: readonly Row[] = [...head, ...withEntries(lines, content), { at, text: JSON.stringify(repair) }];
  return rows.map((row, index) => encodeLine({ ...row, session, sequence: index + 1 })).join("");
};

const withEntries = (lines: readonly Line[], { entries, lost }: Content): readonly Row[] => {
  let place = 0;
  return lines.flatMap(({ at, text }): readonly Row[] => {
    const [start] = /^\{"kind":"entry","index":\d+/.exec(text) ?? [];
    if (start === undefined) return [{ at, text }];
    const rows: Row[] = [];
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
