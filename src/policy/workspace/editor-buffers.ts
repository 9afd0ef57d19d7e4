import type { OpenedFile } from "../../tools/capabilities.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "./paths.ts";

/** The open files of an editor, by canonical path. Neither function rejects. */
export type EditorBuffers = {
  /** The text of a file with changes that are not saved; undefined if the editor does not know. */
  readonly read?: (path: string) => Promise<string | undefined>;
  /** Writes a file through the editor. False if it did not. */
  readonly write?: (path: string, text: string) => Promise<boolean>;
};

/**
 * Replaces the content of an opened file by the text in the editor, where there is one. The identity stays that of the
 * file on disk: a write checks it.
 */
export const openWithBuffer = async (file: OpenedFile, buffers: EditorBuffers): Promise<OpenedFile> => {
  const { place } = file;
  const bytes = await readBuffer(place.path, buffers);
  if (bytes === undefined) return file;
  return {
    place: { ...place, size: bytes.length },
    read: async (at, length) => bytes.subarray(at, at + length),
    close: file.close,
  };
};

/** The bytes of the text in the editor; undefined if there is none. Throws if there are more than `maxCount`. */
export const readBufferBytes = async (
  path: string,
  buffers: EditorBuffers,
  maxCount: number,
): Promise<Uint8Array | undefined> => {
  const bytes = await readBuffer(path, buffers);
  if (bytes === undefined || bytes.length <= maxCount) return bytes;
  throw new PolicyError(
    "file_too_large",
    `${quotePath(path)} is too large: ${bytes.length} bytes (limit: ${maxCount}).`,
  );
};

const readBuffer = async (path: string, { read }: EditorBuffers): Promise<Uint8Array | undefined> => {
  const text = await read?.(path);
  return text === undefined ? undefined : new TextEncoder().encode(text);
};

/** Writes bytes through the editor. False if there is none, if they are no text, or if it did not. */
export const writeBuffer = async (path: string, bytes: Uint8Array, { write }: EditorBuffers): Promise<boolean> => {
  if (write === undefined) return false;
  const text = decodeText(bytes);
  return text === undefined ? false : write(path, text);
};

/** The text of bytes that a text editor writes back unchanged: UTF-8 without a byte order mark. */
const decodeText = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
