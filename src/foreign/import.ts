import { createHash } from "node:crypto";
import type { World } from "../world/world.ts";
import { ConversationBuilder, subagentFiles, type ImportedConversation } from "./builder.ts";
import { ForeignSessionError } from "./error.ts";
import type { BranchLeaf, DatabaseFormat, FileFormat, PathNames } from "./format.ts";
import { findFiles, listFilesIn, type FileRecords, type FoundFile } from "./files.ts";
import { loadFormats } from "./formats.ts";
import { describeFile, idOfPath, readBeside, type ForeignSession } from "./list.ts";
import { readSessionRecords } from "./records.ts";
import { openDatabase } from "./sqlite/database.ts";

/** An imported session, and the SHA-256 of what it was made from. */
export type ImportedSession = ImportedConversation & { readonly digest: string };

/** Imports a session of another agent as a conversation, and reports what was left out. Only reads. */
export const importForeignSession = async (
  { disk }: Pick<World, "disk">,
  session: ForeignSession,
  onProgress?: (done: number, total: number) => void,
): Promise<ImportedSession> => {
  const { agent, id, location } = session;
  const format = await findFormat(session);
  const { digest, ...imported } =
    "database" in format
      ? await openDatabase(disk, location.base, location.path, async (database) => {
          const builder = new ConversationBuilder();
          await format.load(database, id, builder);
          return withDigest(builder.finish());
        })
      : await readSessionFile(disk, format, session, onProgress);
  if (imported.conversation.entries.length === 0)
    throw new ForeignSessionError(`${agent}:${id} has no messages that can be imported.`);
  const folder = imported.folder ?? session.folder;
  return {
    ...imported,
    ...(folder === undefined ? {} : { folder }),
    digest,
  };
};

/** Another conversation of a session: a branch that was left, or the work of a subagent. */
export type OtherConversation = ImportedSession & {
  readonly kind: BranchLeaf["kind"];
  /** Its id within the session: that of its last record, or the name of its file. */
  readonly name: string;
};

/** Imports the other branches of a session and the conversations of its subagents. Those without a message are left out. */
export const importOtherConversations = async function* (
  { disk }: Pick<World, "disk">,
  session: ForeignSession,
): AsyncGenerator<OtherConversation> {
  const format = await findFormat(session);
  const all = "database" in format ? otherRows(disk, format, session) : otherFiles(disk, format, session);
  for await (const other of all) if (other.conversation.entries.length > 0) yield other;
};

const otherRows = async function* (
  disk: World["disk"],
  { leaves, load }: DatabaseFormat,
  { id, location }: ForeignSession,
): AsyncGenerator<OtherConversation> {
  if (leaves === undefined) return;
  yield* await openDatabase(disk, location.base, location.path, async (database) => {
    const others: OtherConversation[] = [];
    for (const leaf of await leaves(database, id)) {
      const builder = new ConversationBuilder();
      // A subagent has a session of its own, a branch is a part of this one.
      if (leaf.kind === "subagent") await load(database, leaf.id, builder);
      else await load(database, id, builder, leaf.id);
      others.push({ ...withDigest(builder.finish()), kind: leaf.kind, name: leaf.id });
    }
    return others;
  });
};

const otherFiles = async function* (
  disk: World["disk"],
  format: FileFormat,
  { id, location: { base, path } }: ForeignSession,
): AsyncGenerator<OtherConversation> {
  const beside = await readBeside(disk, base, format, path);
  const build = (records: FileRecords["records"], leaf?: string): ImportedSession => {
    const builder = new ConversationBuilder();
    format.read(records, builder, beside, leaf);
    return withDigest(builder.finish());
  };
  if (format.leaves !== undefined) {
    const { records } = await readSessionRecords(disk, base, format, path);
    for (const leaf of format.leaves(records)) yield { ...build(records, leaf.id), kind: leaf.kind, name: leaf.id };
  }
  const files = [
    ...(await listSubagentFiles(disk, base, format, path)),
    ...(await findSubagentSessions(disk, base, format, id)),
  ];
  for (const file of files) {
    const { records } = await readSessionRecords(disk, base, format, file.path);
    const name = format.hasSubagentSessions === undefined ? nameOfFile(file.path) : idOfPath(format, file.path);
    yield { ...build(records), kind: "subagent", name };
  }
};

/** The name of a file, or of its folder if all such files have the same name. */
const nameOfFile = (path: PathNames): string =>
  (path.at(-1) === "wire.jsonl" ? path.at(-2) : path.at(-1)?.replace(/\.jsonl?$/, "")) ?? "";

const listSubagentFiles = async (
  disk: World["disk"],
  base: string,
  { subagents, isMainFile }: FileFormat,
  path: PathNames,
): Promise<readonly FoundFile[]> => {
  const files = subagents === undefined ? [] : await listFilesIn(disk, base, subagents(path));
  return files.filter((file) => isMainFile?.(file.path) !== true);
};

/** Files beyond the newest are not opened. */
const maxPeeks = 2000;

/** Finds the files of a session's subagents, and of theirs, among the session files. */
const findSubagentSessions = async (
  disk: World["disk"],
  base: string,
  format: FileFormat,
  id: string,
): Promise<readonly FoundFile[]> => {
  if (format.hasSubagentSessions === undefined) return [];
  const found = await Promise.all(format.files.map((pattern) => findFiles(disk, base, pattern)));
  const parents = new Map<string, { readonly parent: string; readonly file: FoundFile }>();
  for (const file of found.flatMap(({ files }) => files).slice(0, maxPeeks)) {
    const parent = (await describeFile(disk, base, format, file).catch(() => undefined))?.parent;
    if (parent?.kind === "subagent") parents.set(idOfPath(format, file.path), { parent: parent.id, file });
  }
  const isBelow = (own: string, seen: ReadonlySet<string> = new Set()): boolean => {
    const parent = parents.get(own)?.parent;
    return parent !== undefined && !seen.has(parent) && (parent === id || isBelow(parent, new Set([...seen, parent])));
  };
  return [...parents].filter(([own]) => isBelow(own)).map(([, { file }]) => file);
};

/** Rows have no bytes of their own, so the digest is of what they became. */
const withDigest = (imported: ImportedConversation): ImportedSession => ({
  ...imported,
  digest: createHash("sha256").update(JSON.stringify(imported.conversation)).digest("hex"),
});

const findFormat = async ({ agent, location: { path } }: ForeignSession): Promise<FileFormat | DatabaseFormat> => {
  const formats = await loadFormats[agent]();
  const isDatabase = path.at(-1)?.endsWith(".db") === true;
  return formats.find((format) => "database" in format === isDatabase) ?? formats[0]!;
};

const readSessionFile = async (
  disk: World["disk"],
  format: FileFormat,
  { location: { base, path } }: ForeignSession,
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<ImportedSession> => {
  const builder = new ConversationBuilder();
  const read = await readSessionRecords(disk, base, format, path, onProgress);
  const beside = await readBeside(disk, base, format, path);
  format.read(read.records, builder, beside);
  builder.omit("lines that are not valid JSON", read.invalid);
  builder.omit("lines that are too long", read.tooLong);
  builder.omit("incomplete lines at the end of the file", read.isTorn ? 1 : 0);
  builder.omit("beginnings that are in a session no longer there", read.isBeginningMissing ? 1 : 0);
  builder.omit(subagentFiles, (await listSubagentFiles(disk, base, format, path)).length);
  return { ...builder.finish(), digest: read.digest };
};
