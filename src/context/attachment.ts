import { text } from "../conversation/builders.ts";
import { storeBytes, type Stored } from "../conversation/media.ts";
import type { UserPart } from "../conversation/parts.ts";
import { PolicyError } from "../policy/error.ts";
import type { Workspace } from "../policy/workspace.ts";
import { sizeOfImage } from "../tools/image-size.ts";
import { nameLine } from "../tools/names.ts";
import { sniff, sniffLength } from "../tools/sniff.ts";
import { readLines } from "../tools/text-file.ts";
import type { Disk } from "../world/disk.ts";

/** Where mentions lead. */
export type AttachOptions = {
  readonly disk: Disk;
  readonly files: Pick<Workspace, "roots" | "open" | "resolve" | "ignored" | "ignoring">;
  readonly signal: AbortSignal;
  /** Asks a server for what it calls by this name, for `@server:uri`; undefined where it knows none. */
  readonly resource?: (server: string, uri: string, signal: AbortSignal) => Promise<Resource | undefined>;
};

/** What a server gave. */
export type Resource = { readonly parts: readonly UserPart[]; readonly blobs: readonly Stored["blob"][] };

/** What is left of the room for attachments in one message. */
export type Room = { characters: number; bytes: number };

/** A file for a message, or why it is not one. */
export type Attachment =
  | {
      readonly type: "attached";
      readonly path: string;
      readonly kind: "text" | "media" | "folder";
      readonly parts: readonly UserPart[];
      readonly blobs: readonly Stored["blob"][];
      /** Whether only its beginning is there. */
      readonly isCut: boolean;
    }
  | { readonly type: "refused"; readonly reason: Refusal; readonly message: string };

/** Why something that was mentioned is not attached. */
export type Refusal =
  | "absent"
  | "outside"
  | "ignored"
  | "too-large"
  | "protected"
  | "not-text"
  | "unreadable"
  | "too-many";

/** As much as a message holds of all that it mentions. */
export const messageRoom = (): Room => ({ characters: 400_000, bytes: 20 * 2 ** 20 });

/** Reads a file for a message: text under its name, as far as there is room; media whole or not at all. */
export const attachFile = async (
  files: Pick<Workspace, "open" | "ignored">,
  path: string,
  { room, signal }: { readonly room: Room; readonly signal: AbortSignal },
): Promise<Attachment> => {
  try {
    const file = await files.open(path);
    try {
      for (const name of new Set([path, file.place.path])) {
        const kept = await files.ignored(name, { git: false, own: true });
        if (kept !== undefined) return refused("ignored", `${nameLine(path)} is kept from models by ${kept}.`);
      }
      const what = await sniff(await file.read(0, sniffLength), path);
      switch (what.kind) {
        case "binary":
          return refused("not-text", `${nameLine(path)} is neither text nor a kind of media a model can take.`);
        case "text":
          return await textOf(file, { encoding: what.encoding, room, signal });
        case "media":
          return await mediaOf(file, what.mimeType, room);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof PolicyError) return refused(reasonOf(error), error.message);
    throw error;
  }
};

export const refused = (reason: Refusal, message: string): Attachment => ({ type: "refused", reason, message });

/** What a refusal of policy means for somebody who mentioned a path. */
export const reasonOf = ({ type }: PolicyError): Refusal => {
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

const textOf = async (
  file: OpenFile,
  { encoding, room, signal }: { readonly encoding: string; readonly room: Room; readonly signal: AbortSignal },
): Promise<Attachment> => {
  const { shown, path } = file.place;
  if (room.characters < 200) return refused("too-large", `${nameLine(shown)} has no room in this message any more.`);
  const most = Math.min(150_000, room.characters);
  const range = { offset: 0, limit: 2000, longest: 2000, most, encoding, signal };
  const { lines, total, cut, isEnded } = await readLines(file, range);
  const isCut = total !== lines.length || cut;
  const note = isCut
    ? `[The first ${lines.length} lines${cut ? ", long ones cut" : ""}; read_file reads the rest.]\n`
    : "";
  const words = `--- ${nameLine(shown)} ---\n${note}${lines.join("\n")}${isEnded ? "\n" : ""}`;
  room.characters -= words.length;
  return { type: "attached", path, kind: "text", parts: [text(words.toWellFormed())], blobs: [], isCut };
};

const mediaOf = async (file: OpenFile, mimeType: string, room: Room): Promise<Attachment> => {
  const { shown, path, size } = file.place;
  if (size > room.bytes)
    return refused(
      "too-large",
      `${nameLine(shown)} has ${(size / 2 ** 20).toFixed(1)} MB; there is room for ${(room.bytes / 2 ** 20).toFixed(1)} MB of media.`,
    );
  const bytes = await file.read(0, size);
  room.bytes -= bytes.length;
  const name = shown.split(/[/\\]/).at(-1) ?? shown;
  const { media, blob } = storeBytes(bytes, { mimeType, name, ...sizeOfImage(bytes, mimeType) });
  const heading = text(`--- ${nameLine(shown)} ---`);
  return { type: "attached", path, kind: "media", parts: [heading, media], blobs: [blob], isCut: false };
};
