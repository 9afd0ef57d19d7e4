import type { Capabilities, WorkspaceFiles } from "../capabilities.ts";
import { requireVisible } from "../files/read-file.ts";
import { sniffContentType } from "../files/sniff.ts";
import { ToolFailure, type EditProposal, type ToolResult } from "../tool.ts";
import { createDiffDisplay } from "./diff-display.ts";
import { restoreLineEndings, toLineFeeds } from "./line-endings.ts";

/** Files longer than this are not edited as text. */
const maxEditedBytes = 20 * 2 ** 20;

/** A text file as it is: its words with plain line ends, and what is needed to write it back the same way. */
export type EditableFile = {
  readonly text: string;
  /** The text with the line ends it has. */
  readonly raw: string;
  readonly encoding: string;
  readonly hasByteOrderMark: boolean;
  readonly identity: string;
};

/** Reads a text to edit it; undefined when there is no such file. What cannot be written back as it was is refused. */
export const openEditableFile = async (files: WorkspaceFiles, path: string): Promise<EditableFile | undefined> => {
  const place = await files.resolve(path);
  if (place.kind === "absent") return undefined;
  if (place.kind === "folder") throw new ToolFailure("target_is_directory", `${place.shown} is a folder, not a file.`);
  await requireVisible(files, [path, place.path]);
  const bytes = Buffer.from(await files.bytes(place.path, maxEditedBytes));
  const what = await sniffContentType(bytes, path);
  if (what.kind !== "text") throw new ToolFailure("read_content_failure", `${place.shown} is not a text file.`);
  const { encoding } = what;
  const mark = byteOrderMarks.some((each) => bytes.subarray(0, each.length).equals(each));
  const raw = await decodeText(bytes, encoding);
  const file: EditableFile = {
    text: toLineFeeds(raw),
    raw,
    encoding,
    hasByteOrderMark: mark,
    identity: place.identity,
  };
  if ((await encodeText(raw, file))?.equals(bytes) !== true)
    throw new ToolFailure(
      "read_content_failure",
      `${place.shown} cannot be edited as text: it seems to be ${encoding}, but has bytes that are no letters in it.`,
    );
  return file;
};

/** Read by the same tables as it is written by. */
const decodeText = async (bytes: Buffer, encoding: string): Promise<string> => {
  if (encoding === "utf-8") return new TextDecoder().decode(bytes);
  const { default: iconv } = await import("iconv-lite");
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : "";
};

/** What UTF-8 and both kinds of UTF-16 may begin with. */
const byteOrderMarks = ["efbbbf", "fffe", "feff"].map((hex) => Buffer.from(hex, "hex"));

/** Writes a text the way the file was: its line ends, its encoding, its mark. A new file is UTF-8, with the line ends given. */
export const saveEditableFile = async (
  files: WorkspaceFiles,
  { path, text, was }: { readonly path: string; readonly text: string; readonly was: EditableFile | undefined },
): Promise<void> => {
  if (was === undefined) return files.write(path, Buffer.from(text.toWellFormed()), "absent");
  const bytes = await encodeText(restoreLineEndings(text.toWellFormed(), was), was);
  if (bytes === undefined)
    throw new ToolFailure(
      "file_write_failure",
      `${path} is written in ${was.encoding}, which has no letters for this text.`,
    );
  await files.write(path, bytes, was.identity);
};

/** The text in bytes; undefined where the encoding cannot say it. */
const encodeText = async (
  text: string,
  { encoding, hasByteOrderMark: mark }: Pick<EditableFile, "encoding" | "hasByteOrderMark">,
): Promise<Buffer | undefined> => {
  if (encoding === "utf-8") return Buffer.from(mark ? `\ufeff${text}` : text);
  const { default: iconv } = await import("iconv-lite");
  if (!iconv.encodingExists(encoding)) return undefined;
  const bytes = iconv.encode(text, encoding, { addBOM: mark });
  return iconv.decode(bytes, encoding) === text ? bytes : undefined;
};

/** The edit that is about to be written must be the one that was approved. */
export const requireApproved = ({ approved }: Pick<Capabilities, "approved">, proposal: EditProposal): void => {
  if (approved === undefined) return;
  if (approved.before !== proposal.before || approved.after !== proposal.after)
    throw new ToolFailure(
      "file_modified_conflict",
      `${proposal.path} has changed since the edit was approved. Read it again and try anew.`,
    );
};

/** The result of an edit: a sentence for the model, a diff for the person. */
export const createEditResult = async (
  sentence: string,
  proposal: EditProposal,
  proposed: string | undefined,
): Promise<ToolResult> => {
  const note =
    proposed === undefined || proposed === proposal.after
      ? ""
      : ` The user changed the edit before approving it; the file now holds the user's version:\n${proposal.after}`;
  return {
    content: [{ type: "text", text: `${sentence}${note}` }],
    display: createDiffDisplay(proposal, proposed ?? proposal.after),
  };
};
