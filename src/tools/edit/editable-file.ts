import type { Capabilities, WorkspaceFiles } from "../capabilities.ts";
import { requireVisible } from "../files/read-file.ts";
import { sniffContentType } from "../files/sniff.ts";
import { ToolFailure, type EditProposal, type ToolResult } from "../tool.ts";
import { createDiffDisplay } from "./diff-display.ts";
import { restoreLineEndings, toLineFeeds } from "./line-endings.ts";

/** Files longer than this are not edited as text. */
const maxEditedBytes = 20 * 2 ** 20;

/** A text file opened for editing: its text with line feeds, and what is needed to write it back in the same format. */
export type EditableFile = {
  readonly text: string;
  /** The text with its original line endings. */
  readonly raw: string;
  readonly encoding: string;
  readonly hasByteOrderMark: boolean;
  readonly identity: string;
};

/**
 * Reads a text file to edit it; undefined if it does not exist. Rejects a file that could not be written back
 * unchanged.
 */
export const openEditableFile = async (files: WorkspaceFiles, path: string): Promise<EditableFile | undefined> => {
  const resolved = await files.resolve(path);
  if (resolved.kind === "absent") return undefined;
  if (resolved.kind === "folder")
    throw new ToolFailure("target_is_directory", `${resolved.shown} is a folder, not a file.`);
  await requireVisible(files, [path, resolved.path]);
  const bytes = Buffer.from(await files.bytes(resolved.path, maxEditedBytes));
  const contentType = await sniffContentType(bytes, path);
  if (contentType.kind !== "text")
    throw new ToolFailure("read_content_failure", `${resolved.shown} is not a text file.`);
  const { encoding } = contentType;
  const hasByteOrderMark = byteOrderMarks.some((each) => bytes.subarray(0, each.length).equals(each));
  const raw = await decodeText(bytes, encoding);
  const file: EditableFile = {
    text: toLineFeeds(raw),
    raw,
    encoding,
    hasByteOrderMark,
    identity: resolved.identity,
  };
  if ((await encodeText(raw, file))?.equals(bytes) !== true)
    throw new ToolFailure(
      "read_content_failure",
      `${resolved.shown} cannot be edited as text: it seems to be ${encoding}, but contains invalid bytes.`,
    );
  return file;
};

/** Decodes with the same tables that encode. */
const decodeText = async (bytes: Buffer, encoding: string): Promise<string> => {
  if (encoding === "utf-8") return new TextDecoder().decode(bytes);
  const { default: iconv } = await import("iconv-lite");
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : "";
};

/** The byte order marks of UTF-8 and both kinds of UTF-16. */
const byteOrderMarks = ["efbbbf", "fffe", "feff"].map((hex) => Buffer.from(hex, "hex"));

/**
 * Writes a text in the file's format: its line endings, encoding and byte order mark. A new file is UTF-8, with the
 * given line endings.
 */
export const saveEditableFile = async (
  files: WorkspaceFiles,
  { path, text, was: file }: { readonly path: string; readonly text: string; readonly was: EditableFile | undefined },
): Promise<void> => {
  if (file === undefined) return files.write(path, Buffer.from(text.toWellFormed()), "absent");
  const bytes = await encodeText(restoreLineEndings(text.toWellFormed(), file), file);
  if (bytes === undefined)
    throw new ToolFailure(
      "file_write_failure",
      `${path} is written in ${file.encoding}, which cannot represent this text.`,
    );
  await files.write(path, bytes, file.identity);
};

/** Encodes a text; undefined where the encoding has no bytes for it. */
const encodeText = async (
  text: string,
  { encoding, hasByteOrderMark }: Pick<EditableFile, "encoding" | "hasByteOrderMark">,
): Promise<Buffer | undefined> => {
  if (encoding === "utf-8") return Buffer.from(hasByteOrderMark ? `\ufeff${text}` : text);
  const { default: iconv } = await import("iconv-lite");
  if (!iconv.encodingExists(encoding)) return undefined;
  const bytes = iconv.encode(text, encoding, { addBOM: hasByteOrderMark });
  return iconv.decode(bytes, encoding) === text ? bytes : undefined;
};

/** Throws unless the edit about to be written is the approved one. */
export const requireApproved = ({ approved }: Pick<Capabilities, "approved">, proposal: EditProposal): void => {
  if (approved === undefined) return;
  if (approved.before !== proposal.before || approved.after !== proposal.after)
    throw new ToolFailure(
      "file_modified_conflict",
      `${proposal.path} has changed since the edit was approved. Read it again and retry.`,
    );
};

/** The result of an edit: a sentence for the model, a diff for the user. */
export const createEditResult = async (
  sentence: string,
  proposal: EditProposal,
  proposed: string | undefined,
): Promise<ToolResult> => {
  const note =
    proposed === undefined || proposed === proposal.after
      ? ""
      : ` The user changed the edit before approving it; the file now contains the user's version:\n${proposal.after}`;
  return {
    content: [{ type: "text", text: `${sentence}${note}` }],
    display: createDiffDisplay(proposal, proposed ?? proposal.after),
  };
};
