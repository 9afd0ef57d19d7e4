import { text } from "../../conversation/builders.ts";
import { storeBytes, type StoredMedia } from "../../conversation/media.ts";
import type { UserPart } from "../../conversation/parts.ts";
import { PolicyError } from "../../policy/error.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { readImageSize } from "../../tools/files/image-size.ts";
import { escapeName } from "../../tools/files/escape-name.ts";
import { sniffContentType, sniffLength } from "../../tools/files/sniff.ts";
import { readLines } from "../../tools/files/read-lines.ts";
import type { Disk } from "../../world/disk.ts";

/** Where mentions lead. */
export type AttachOptions = {
  readonly disk: Disk;
  readonly files: Pick<Workspace, "roots" | "open" | "resolve" | "ignored" | "ignoring">;
  readonly signal: AbortSignal;
  /** Asks a server for what it calls by this name, for `@server:uri`; undefined where it knows none. */
  readonly resource?: (server: string, uri: string, signal: AbortSignal) => Promise<MentionedResource | undefined>;
};

/** What a server gave. */
export type MentionedResource = { readonly parts: readonly UserPart[]; readonly blobs: readonly StoredMedia["blob"][] };

/** What is left of the room for attachments in one message. */
export type AttachmentBudget = { characters: number; bytes: number };

/** A file for a message, or why it is not one. */
export type Attachment =
  | {
      readonly type: "attached";
      readonly path: string;
      readonly kind: "text" | "media" | "folder";
      readonly parts: readonly UserPart[];
      readonly blobs: readonly StoredMedia["blob"][];
      /** Whether only its beginning is there. */
      readonly isCut: boolean;
    }
  | { readonly type: "refused"; readonly reason: AttachmentRefusal; readonly message: string };

/** Why something that was mentioned is not attached. */
export type AttachmentRefusal =
  | "absent"
  | "outside"
  | "ignored"
  | "too-large"
  | "protected"
  | "not-text"
  | "unreadable"
  | "too-many";

/** As much as a message holds of all that it mentions. */
export const createAttachmentBudget = (): AttachmentBudget => ({ characters: 400_000, bytes: 20 * 2 ** 20 });

/** Reads a file for a message: text under its name, as far as there is room; media whole or not at all. */
export const attachFile = async (
  files: Pick<Workspace, "open" | "ignored">,
  path: string,
  { room, signal }: { readonly room: AttachmentBudget; readonly signal: AbortSignal },
): Promise<Attachment> => {
  try {
    const file = await files.open(path);
    try {
      for (const name of new Set([path, file.place.path])) {
        const kept = await files.ignored(name, { git: false, own: true });
        if (kept !== undefined)
          return refuseAttachment("ignored", `${escapeName(path)} is excluded from models by ${kept}.`);
      }
      const what = await sniffContentType(await file.read(0, sniffLength), path);
      switch (what.kind) {
        case "binary":
          return refuseAttachment(
            "not-text",
            `${escapeName(path)} is neither text nor a kind of media a model can take.`,
          );
        case "text":
          return await attachText(file, { encoding: what.encoding, room, signal });
        case "media":
          return await attachMedia(file, what.mimeType, room);
      }
    } finally {
      await file.close();
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

/** What a refusal of policy means for somebody who mentioned a path. */
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
    room,
    signal,
  }: { readonly encoding: string; readonly room: AttachmentBudget; readonly signal: AbortSignal },
): Promise<Attachment> => {
  const { shown, path } = file.place;
  if (room.characters < 200)
    return refuseAttachment("too-large", `${escapeName(shown)} has no room in this message any more.`);
  const maxCharacters = Math.min(150_000, room.characters);
  const range = { offset: 0, limit: 2000, maxLineLength: 2000, maxCharacters, encoding, signal };
  const { lines, total, hasCutLines: cut, endsWithNewline: isEnded } = await readLines(file, range);
  const isCut = total !== lines.length || cut;
  const note = isCut
    ? `[The first ${lines.length} lines${cut ? ", long ones cut" : ""}; read_file reads the rest.]\n`
    : "";
  const words = `--- ${escapeName(shown)} ---\n${note}${lines.join("\n")}${isEnded ? "\n" : ""}`;
  room.characters -= words.length;
  return { type: "attached", path, kind: "text", parts: [text(words.toWellFormed())], blobs: [], isCut };
};

const attachMedia = async (file: OpenFile, mimeType: string, room: AttachmentBudget): Promise<Attachment> => {
  const { shown, path, size } = file.place;
  if (size > room.bytes)
    return refuseAttachment(
      "too-large",
      `${escapeName(shown)} has ${(size / 2 ** 20).toFixed(1)} MB; there is room for ${(room.bytes / 2 ** 20).toFixed(1)} MB of media.`,
    );
  const bytes = await file.read(0, size);
  room.bytes -= bytes.length;
  const name = shown.split(/[/\\]/).at(-1) ?? shown;
  const { media, blob } = storeBytes(bytes, { mimeType, name, ...readImageSize(bytes, mimeType) });
  const heading = text(`--- ${escapeName(shown)} ---`);
  return { type: "attached", path, kind: "media", parts: [heading, media], blobs: [blob], isCut: false };
};
