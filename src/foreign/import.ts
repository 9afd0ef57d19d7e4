import { createHash } from "node:crypto";
import type { World } from "../world/world.ts";
import { ConversationBuilder, subagentFiles, type ImportedConversation } from "./builder.ts";
import { ForeignSessionError } from "./error.ts";
import type { BranchLeaf, DatabaseFormat, FileFormat, PathNames } from "./format.ts";
import { listFilesIn, readJsonDocument, readJsonLines, withFile, type FileRecords } from "./files.ts";
import { loadFormats } from "./formats.ts";
import { isDocument, readBeside, type ForeignSession } from "./list.ts";
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
  const { base, path } = session.location;
  const format = await findFormat(session);
  if ("database" in format) return;
  const beside = await readBeside(disk, base, format, path);
  const readRecords = (at: PathNames): Promise<FileRecords> =>
    withFile(disk, base, at, (file) =>
      isDocument(at) ? readJsonDocument(file) : readJsonLines(file, { skip: format.skip }),
    );
  const build = (records: FileRecords["records"], leaf?: string): ImportedSession => {
    const builder = new ConversationBuilder();
    format.read(records, builder, beside, leaf);
    return withDigest(builder.finish());
  };
  if (format.leaves !== undefined) {
    const { records } = await readRecords(path);
    for (const { id, kind } of format.leaves(records)) {
      const imported = build(records, id);
      if (imported.conversation.entries.length > 0) yield { ...imported, kind, name: id };
    }
  }
  const files = format.subagents === undefined ? [] : await listFilesIn(disk, base, format.subagents(path));
  for (const file of files) {
    const { records } = await readRecords(file.path);
    const imported = build(records);
    const name = (file.path.at(-1) ?? "").replace(/\.jsonl?$/, "");
    if (imported.conversation.entries.length > 0) yield { ...imported, kind: "subagent", name };
  }
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
  const read = await withFile(disk, base, path, (file) =>
    isDocument(path) ? readJsonDocument(file) : readJsonLines(file, { skip: format.skip, onProgress }),
  );
  const beside = await readBeside(disk, base, format, path);
  format.read(read.records, builder, beside);
  builder.omit("lines that are not valid JSON", read.invalid);
  builder.omit("lines that are too long", read.tooLong);
  builder.omit("incomplete lines at the end of the file", read.isTorn ? 1 : 0);
  if (format.subagents !== undefined)
    builder.omit(subagentFiles, (await listFilesIn(disk, base, format.subagents(path))).length);
  return { ...builder.finish(), digest: read.digest };
};
