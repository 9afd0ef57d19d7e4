import { text } from "../../conversation/builders.ts";
import { storeBytes, type StoredMedia } from "../../conversation/media.ts";
import type { UserPart } from "../../conversation/parts.ts";
import { PolicyError } from "../../policy/error.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { readImageSize } from "../../tools/files/image-size.ts";
import { escapeName } from "../../tools/files/escape-name.ts";
import { sniffFile } from "../../tools/files/sniff.ts";
import { readLines } from "../../tools/files/read-lines.ts";
import type { Disk } from "../../world/disk.ts";

/** Where mentions are resolved. */
export type AttachOptions = {
  readonly disk: Disk;
  readonly files: Pick<Workspace, "roots" | "open" | "resolve" | "ignored" | "ignoring">;
  readonly signal: AbortSignal;
  /** Reads a resource of an MCP server, for `@server:uri`; undefined if there is none. */
  readonly resource?: (server: string, uri: string, signal: AbortSignal) => Promise<MentionedResource | undefined>;
};

/** A resource of an MCP server. */
export type MentionedResource = { readonly parts: readonly UserPart[]; readonly blobs: readonly StoredMedia["blob"][] };

/** The remaining size budget for attachments of one message. */
export type AttachmentBudget = { characters: number; bytes: number };

/** An attached file, or why it was refused. */
export type Attachment =
  | {
      readonly type: "attached";
      readonly path: string;
      /** The path relative to its root, for the user. */
      readonly shown: string;
      readonly kind: "text" | "media" | "folder";
      readonly parts: readonly UserPart[];
      readonly blobs: readonly StoredMedia["blob"][];
      /** Whether it was cut. */
      readonly isCut: boolean;
    }
  | { readonly type: "refused"; readonly reason: AttachmentRefusal; readonly message: string };

/** Why a mention is not attached. */
export type AttachmentRefusal =
  | "absent"
  | "outside"
  | "ignored"
  | "too-large"
  | "protected"
  | "not-text"
  | "unreadable"
  | "too-many";

/** Creates the attachment budget of one message. */
export const createAttachmentBudget = (): AttachmentBudget => ({ characters: 400_000, bytes: 20 * 2 ** 20 });

/** Attaches a file: text under its name, cut to the budget; media only as a whole. */
export const attachFile = async (
  files: Pick<Workspace, "open" | "ignored">,
  path: string,
  { budget, signal }: { readonly budget: AttachmentBudget; readonly signal: AbortSignal },
): Promise<Attachment> => {
  try {
    const opened = await files.open(path);
    try {
      for (const name of new Set([path, opened.place.path])) {
        const ignoredBy = await files.ignored(name, { git: false, own: true });
        if (ignoredBy !== undefined)
          return refuseAttachment("ignored", `${escapeName(path)} is excluded from models by ${ignoredBy}.`);
      }
      const { contentType: what, file } = await sniffFile(opened, path);
      switch (what.kind) {
        case "binary":
          return refuseAttachment("not-text", `${escapeName(path)} is neither text nor a supported media type.`);
        case "text":
          return await attachText(file, { encoding: what.encoding, budget, signal });
        case "media":
          return await attachMedia(file, what.mimeType, budget);
      }
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof PolicyError) return refuseAttachment(refusalReason(error), error.message);
    throw error;
  }
};

export const refuseAttachment = (reason: AttachmentRefusal, message: string): Attachment => ({
  type: "refused",
  reason,
  message,
});

/** Converts a policy error to a refusal. */
export const refusalReason = ({ type }: PolicyError): AttachmentRefusal => {
  switch (type) {
    case "path_not_in_workspace":
      return "outside";
    case "policy_violation":
      return "protected";
    case "file_not_found":
    case "path_is_not_a_directory":
      return "absent";
    case "file_too_large":
      return "too-large";
    default:
      return "unreadable";
  }
};

type OpenFile = Awaited<ReturnType<Workspace["open"]>>;

const attachText = async (
  file: OpenFile,
  {
    encoding,
    budget,
    signal,
  }: { readonly encoding: string; readonly budget: AttachmentBudget; readonly signal: AbortSignal },
): Promise<Attachment> => {
  const { shown, path } = file.place;
  if (budget.characters < 200)
    return refuseAttachment("too-large", `${escapeName(shown)} does not fit in this message.`);
  const maxCharacters = Math.min(150_000, budget.characters);
  const range = { offset: 0, limit: 2000, maxLineLength: 2000, maxCharacters, encoding, signal };
  const { text: body, count, total, hasCutLines: cut, endsWithNewline: isEnded } = await readLines(file, range);
  const isCut = total !== count || cut;
  const note = isCut ? `[The first ${count} lines${cut ? ", long ones cut" : ""}; read_file reads the rest.]\n` : "";
  const words = `--- ${escapeName(shown)} ---\n${note}${body}${isEnded ? "\n" : ""}`;
  budget.characters -= words.length;
  return { type: "attached", path, shown, kind: "text", parts: [text(words.toWellFormed())], blobs: [], isCut };
};

const attachMedia = async (file: OpenFile, mimeType: string, budget: AttachmentBudget): Promise<Attachment> => {
  const { shown, path, size } = file.place;
  if (size > budget.bytes)
    return refuseAttachment(
      "too-large",
      `${escapeName(shown)} has ${(size / 2 ** 20).toFixed(1)} MB; the remaining budget is ${(budget.bytes / 2 ** 20).toFixed(1)} MB of media.`,
    );
  const bytes = await file.read(0, size);
  budget.bytes -= bytes.length;
  const name = shown.split(/[/\\]/).at(-1) ?? shown;
  const { media, blob } = storeBytes(bytes, { mimeType, name, ...readImageSize(bytes, mimeType) });
  const heading = text(`--- ${escapeName(shown)} ---`);
  return { type: "attached", path, shown, kind: "media", parts: [heading, media], blobs: [blob], isCut: false };
};
