import { createHash } from "node:crypto";
import type { World } from "../world/world.ts";
import { ConversationBuilder, type ImportedConversation } from "./builder.ts";
import { ForeignSessionError } from "./error.ts";
import type { DatabaseFormat, FileFormat } from "./format.ts";
import { countFiles, readJsonDocument, readJsonLines, withFile } from "./files.ts";
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
    builder.omit(
      "conversations of subagents (their results are kept)",
      await countFiles(disk, base, format.subagents(path)),
    );
  return { ...builder.finish(), digest: read.digest };
};
