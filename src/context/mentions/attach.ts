import { isAbsolute } from "node:path";
import { text } from "../../conversation/builders.ts";
import type { StoredMedia } from "../../conversation/media.ts";
import type { UserPart } from "../../conversation/parts.ts";
import { PolicyError } from "../../policy/error.ts";
import {
  attachFile,
  createAttachmentBudget,
  refusalReason,
  refuseAttachment,
  type Attachment,
  type AttachOptions,
  type AttachmentRefusal,
  type MentionedResource,
  type AttachmentBudget,
} from "./attach-file.ts";
import { isGlob } from "../../tools/search/glob-pattern.ts";
import { attachFolder, attachPattern } from "./attach-folder.ts";
import { parseMentions, type MessagePiece } from "./parse.ts";

/** A message with its attachments; the user's text comes first, unchanged. */
export type AttachedMessage = {
  readonly parts: readonly UserPart[];
  readonly blobs: readonly StoredMedia["blob"][];
  readonly attached: readonly AttachedMention[];
  readonly refused: readonly RefusedMention[];
};

/** An attached mention. `isCut`: only the beginning is attached. */
type AttachedMention = {
  readonly mention: string;
  readonly path: string;
  /** The path relative to its root, for the user. */
  readonly shown: string;
  readonly kind: "text" | "media" | "folder" | "resource";
  readonly isCut: boolean;
};

/** A mention that was refused. */
type RefusedMention = { readonly mention: string; readonly reason: AttachmentRefusal; readonly message: string };

/**
 * Attaches the files, folders and patterns a message mentions. A file is attached with its contents, a folder with the names
 * in it. A mention that matches nothing stays plain text; it is reported only if it clearly looks like a path.
 */
export const attachMentions = async (message: string, options: AttachOptions): Promise<AttachedMessage> => {
  const budget = createAttachmentBudget();
  const seen = new Set<string>();
  const all: { readonly mention: string; readonly found: readonly Attachment[] | MentionedResource }[] = [];
  for (const piece of parseMentions(message)) {
    if (piece.type === "text" || seen.has(piece.raw)) continue;
    seen.add(piece.raw);
    if (seen.size > maxMentions) continue;
    options.signal.throwIfAborted();
    all.push({ mention: piece.raw, found: await resolveMention(piece, options, budget) });
  }
  const rest = [...seen].slice(maxMentions);
  const [first] = rest;
  if (first !== undefined) {
    const count = rest.length === 1 ? "1 more mention was" : `${rest.length} more mentions were`;
    const words = `A message attaches at most ${maxMentions} mentions; ${count} left out, from ${first} on.`;
    all.push({ mention: first, found: [refuseAttachment("too-many", words)] });
  }
  return composeMessage(message, all);
};

/** More mentions than this are pasted text, not requests. */
const maxMentions = 100;

type FileMention = Extract<MessagePiece, { readonly type: "mention" }>;

const resolveMention = async (
  mention: FileMention,
  options: AttachOptions,
  budget: AttachmentBudget,
): Promise<readonly Attachment[] | MentionedResource> => {
  const resource = await readServerResource(mention, options);
  if (resource !== undefined) return resource;
  let refusal: Attachment | undefined;
  for (const path of mention.paths) {
    const found = await attachPath(path, options, budget);
    if (found !== undefined && !("type" in found)) return found;
    refusal ??= found;
  }
  if (refusal !== undefined) return [refusal];
  const [path = ""] = mention.paths.slice(-1);
  return (await isLikelyFile(mention, options))
    ? [refuseAttachment("absent", `File ${JSON.stringify(path)} does not exist.`)]
    : [];
};

const readServerResource = async (
  { paths: [path = ""] }: FileMention,
  options: AttachOptions,
): Promise<MentionedResource | undefined> => {
  const { server, uri } = /^(?<server>[\w.-]+):(?<uri>\S.*)$/s.exec(path)?.groups ?? {};
  if (server === undefined || uri === undefined) return undefined;
  return options.resource?.(server, uri, options.signal);
};

/** Attaches a path. Returns a refusal that another candidate path may replace, or undefined if nothing is there. */
const attachPath = async (
  path: string,
  options: AttachOptions,
  budget: AttachmentBudget,
): Promise<readonly Attachment[] | Attachment | undefined> => {
  try {
    const place = await options.files.resolve(path);
    switch (place.kind) {
      case "file":
      case "other":
        return [await attachFile(options.files, path, { budget, signal: options.signal })];
      case "folder":
        return [await attachFolder(place, options)];
      case "absent": {
        const found = isGlob(path) ? await attachPattern(path, options, budget) : [];
        return found.length === 0 ? undefined : found;
      }
    }
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const reason = refusalReason(error);
    return reason === "absent" || (reason === "outside" && !(await existsOutside(path, options)))
      ? undefined
      : refuseAttachment(reason, error.message);
  }
};

/** Whether a path outside the workspace exists: `@/components` in a line of code does not. */
const existsOutside = async (path: string, { disk }: AttachOptions): Promise<boolean> =>
  !isAbsolute(path) || (await disk.canonicalPath(path).catch(() => undefined)) !== undefined;

/** Whether a mention looks like a path: quoted, inside an existing folder, or with a file extension. */
const isLikelyFile = async (
  { paths: [path = ""], isQuoted }: FileMention,
  { files }: AttachOptions,
): Promise<boolean> => {
  if (isQuoted || /^\.{1,2}\//.test(path)) return true;
  const [first = "", ...rest] = path.split("/");
  if (rest.length === 0) return /^[^.(]+\.\w{1,5}$/.test(path);
  return first !== "" && (await files.resolve(first).catch(() => undefined))?.kind === "folder";
};

const composeMessage = (
  message: string,
  all: readonly { readonly mention: string; readonly found: readonly Attachment[] | MentionedResource }[],
): AttachedMessage => {
  const parts: UserPart[] = [];
  const blobs = new Map<string, StoredMedia["blob"]>();
  const attached = new Map<string, AttachedMention>();
  const refusedMentions: RefusedMention[] = [];
  const attach = ({ path, ...what }: AttachedMention, given: MentionedResource): void => {
    if (attached.has(path)) return;
    attached.set(path, { path, ...what });
    parts.push(...given.parts);
    for (const blob of given.blobs) blobs.set(blob.hash, blob);
  };
  for (const { mention, found } of all) {
    if ("parts" in found) {
      const path = mention.slice(1);
      attach({ mention, path, shown: path, kind: "resource", isCut: false }, found);
    } else
      for (const each of found) {
        if (each.type === "attached") {
          const { path, shown, kind, isCut } = each;
          attach({ mention, path, shown, kind, isCut }, each);
        } else refusedMentions.push({ mention, reason: each.reason, message: each.message });
      }
  }
  const heading = parts.length === 0 ? [] : [text("What the message mentions with @:")];
  return {
    parts: [text(message), ...heading, ...parts],
    blobs: [...blobs.values()],
    attached: [...attached.values()],
    refused: refusedMentions,
  };
};
