import type { Capabilities, Files } from "./capabilities.ts";
import { demandVisible } from "./read-file.ts";
import { sniff } from "./sniff.ts";
import { ToolFailure, type Proposal, type ToolResult } from "./tool.ts";
import { diffDisplay } from "./diff-display.ts";
import { endedAs, plainEnds } from "./line-ends.ts";

/** Files longer than this are not edited as text. */
const mostEdited = 20 * 2 ** 20;

/** A text file as it is: its words with plain line ends, and what is needed to write it back the same way. */
export type TextFile = {
  readonly text: string;
  /** The text with the line ends it has. */
  readonly raw: string;
  readonly encoding: string;
  readonly mark: boolean;
  readonly identity: string;
};

/** Reads a text to edit it; undefined when there is no such file. What cannot be written back as it was is refused. */
export const openText = async (files: Files, path: string): Promise<TextFile | undefined> => {
  const place = await files.resolve(path);
  if (place.kind === "absent") return undefined;
  if (place.kind === "folder") throw new ToolFailure("target_is_directory", `${place.shown} is a folder, not a file.`);
  await demandVisible(files, [path, place.path]);
  const bytes = Buffer.from(await files.bytes(place.path, mostEdited));
  const what = await sniff(bytes, path);
  if (what.kind !== "text") throw new ToolFailure("read_content_failure", `${place.shown} is not a text file.`);
  const { encoding } = what;
  const mark = marks.some((each) => bytes.subarray(0, each.length).equals(each));
  const raw = await decoded(bytes, encoding);
  const file: TextFile = { text: plainEnds(raw), raw, encoding, mark, identity: place.identity };
  if ((await encoded(raw, file))?.equals(bytes) !== true)
    throw new ToolFailure(
      "read_content_failure",
      `${place.shown} cannot be edited as text: it seems to be ${encoding}, but has bytes that are no letters in it.`,
    );
  return file;
};

/** Read by the same tables as it is written by. */
const decoded = async (bytes: Buffer, encoding: string): Promise<string> => {
  if (encoding === "utf-8") return new TextDecoder().decode(bytes);
  const { default: iconv } = await import("iconv-lite");
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : "";
};

/** What UTF-8 and both kinds of UTF-16 may begin with. */
const marks = ["efbbbf", "fffe", "feff"].map((hex) => Buffer.from(hex, "hex"));

/** Writes a text the way the file was: its line ends, its encoding, its mark. A new file is UTF-8, with the line ends given. */
export const saveText = async (
  files: Files,
  { path, text, was }: { readonly path: string; readonly text: string; readonly was: TextFile | undefined },
): Promise<void> => {
  if (was === undefined) return files.write(path, Buffer.from(text.toWellFormed()), "absent");
  const bytes = await encoded(endedAs(text.toWellFormed(), was), was);
  if (bytes === undefined)
    throw new ToolFailure(
      "file_write_failure",
      `${path} is written in ${was.encoding}, which has no letters for this text.`,
    );
  await files.write(path, bytes, was.identity);
};

/** The text in bytes; undefined where the encoding cannot say it. */
const encoded = async (
  text: string,
  { encoding, mark }: Pick<TextFile, "encoding" | "mark">,
): Promise<Buffer | undefined> => {
  if (encoding === "utf-8") return Buffer.from(mark ? `\ufeff${text}` : text);
  const { default: iconv } = await import("iconv-lite");
  if (!iconv.encodingExists(encoding)) return undefined;
  const bytes = iconv.encode(text, encoding, { addBOM: mark });
  return iconv.decode(bytes, encoding) === text ? bytes : undefined;
};

/** The edit that is about to be written must be the one that was approved. */
export const demandApproved = ({ approved }: Pick<Capabilities, "approved">, proposal: Proposal): void => {
  if (approved === undefined) return;
  if (approved.before !== proposal.before || approved.after !== proposal.after)
    throw new ToolFailure(
      "file_modified_conflict",
      `${proposal.path} has changed since the edit was approved. Read it again and try anew.`,
    );
};

/** The result of an edit: a sentence for the model, a diff for the person. */
export const editResult = async (
  sentence: string,
  proposal: Proposal,
  proposed: string | undefined,
): Promise<ToolResult> => {
  const note =
    proposed === undefined || proposed === proposal.after
      ? ""
      : ` The user changed the edit before approving it; the file now holds the user's version:\n${proposal.after}`;
  return {
    content: [{ type: "text", text: `${sentence}${note}` }],
    display: diffDisplay(proposal, proposed ?? proposal.after),
  };
};
