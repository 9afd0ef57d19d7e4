import { isUtf8 } from "node:buffer";
import type { OpenedFile } from "../capabilities.ts";

/** The content type of a file, by its first bytes and, where these are not conclusive, by its name. */
export type FileContentType =
  | { readonly kind: "text"; readonly encoding: string }
  | { readonly kind: "media"; readonly mimeType: string }
  | { readonly kind: "binary" };

/** Bytes needed to detect a content type. */
export const sniffLength: number = 2 ** 16;

/** Detects the content type of an open file. Returns it with the file, which is not read again if this has read it all. */
export const sniffFile = async (
  file: OpenedFile,
  name: string,
): Promise<{ readonly contentType: FileContentType; readonly file: OpenedFile }> => {
  const { size } = file.place;
  const start = await file.read(0, size === 0 ? sniffLength : Math.min(sniffLength, size));
  const contentType = await sniffContentType(start, name);
  if (start.length !== size) return { contentType, file };
  const read: OpenedFile["read"] = async (at, length) => start.subarray(at, at + length);
  return { contentType, file: { ...file, read } };
};

/** Detects the content type of a file from its beginning. SVG is text. */
export const sniffContentType = async (start: Uint8Array, name: string): Promise<FileContentType> => {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.length);
  // Valid text is text, even if it begins like an image; only for a PDF is the signature enough.
  if (!startsWithBytes(bytes, ascii("%PDF-")) && isPlainText(bytes)) return { kind: "text", encoding: "utf-8" };
  const mimeType = signatures.find(({ at, mark }) => startsWithBytes(bytes, mark, at))?.type(bytes);
  if (mimeType !== undefined) return { kind: "media", mimeType };
  const encoding = await detectEncoding(bytes);
  if (encoding !== undefined) return { kind: "text", encoding };
  const byName = typesByExtension[/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""];
  return byName === undefined ? { kind: "binary" } : { kind: "media", mimeType: byName };
};

const startsWithBytes = (bytes: Buffer, mark: Buffer, at = 0): boolean =>
  bytes.subarray(at, at + mark.length).equals(mark);

type FileSignature = {
  readonly at?: number;
  readonly mark: Buffer;
  readonly type: (all: Buffer) => string | undefined;
};

const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
const always =
  (type: string): FileSignature["type"] =>
  () =>
    type;

const signatures: readonly FileSignature[] = [
  { mark: ascii("\x89PNG\r\n\x1a\n"), type: always("image/png") },
  { mark: ascii("\xff\xd8\xff"), type: always("image/jpeg") },
  { mark: ascii("GIF87a"), type: always("image/gif") },
  { mark: ascii("GIF89a"), type: always("image/gif") },
  { mark: ascii("BM"), type: (all) => (all.length > 18 && all.readUInt32LE(14) === 40 ? "image/bmp" : undefined) },
  { mark: ascii("II*\0"), type: always("image/tiff") },
  { mark: ascii("MM\0*"), type: always("image/tiff") },
  { mark: ascii("%PDF-"), type: always("application/pdf") },
  { mark: ascii("RIFF"), type: (all) => riffTypes[all.toString("latin1", 8, 12)] },
  { mark: ascii("FORM"), type: (all) => (all.toString("latin1", 8, 11) === "AIF" ? "audio/aiff" : undefined) },
  { mark: ascii("OggS"), type: always("audio/ogg") },
  { mark: ascii("fLaC"), type: always("audio/flac") },
  { mark: ascii("ID3"), type: always("audio/mpeg") },
  { mark: ascii("\xff\xfb"), type: always("audio/mpeg") },
  { mark: ascii("\xff\xf3"), type: always("audio/mpeg") },
  { mark: ascii("\xff\xf1"), type: always("audio/aac") },
  { mark: ascii("\xff\xf9"), type: always("audio/aac") },
  {
    mark: ascii("\x1aE\xdf\xa3"),
    type: (all) => (all.subarray(0, 64).includes("webm") ? "video/webm" : "video/x-matroska"),
  },
  { at: 4, mark: ascii("ftyp"), type: (all) => brandTypes[all.toString("latin1", 8, 12)] ?? "video/mp4" },
  { mark: ascii("\0\0\x01\xba"), type: always("video/mpeg") },
];

const riffTypes: Readonly<Record<string, string>> = { WEBP: "image/webp", WAVE: "audio/wav", "AVI ": "video/avi" };
const brandTypes: Readonly<Record<string, string>> = {
  heic: "image/heic",
  heix: "image/heic",
  mif1: "image/heif",
  avif: "image/avif",
  "M4A ": "audio/mp4",
  "qt  ": "video/quicktime",
};

/** Types without a reliable signature. */
const typesByExtension: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  aac: "audio/aac",
  mpg: "video/mpeg",
  mpeg: "video/mpeg",
};

/** The encoding of a text, with the name decoders use; undefined for binary data. */
const detectEncoding = async (bytes: Buffer): Promise<string | undefined> => {
  if (startsWithBytes(bytes, ascii("\xef\xbb\xbf"))) return "utf-8";
  if (startsWithBytes(bytes, ascii("\xff\xfe\0\0"))) return undefined;
  if (startsWithBytes(bytes, ascii("\xff\xfe"))) return "utf-16le";
  if (startsWithBytes(bytes, ascii("\xfe\xff"))) return "utf-16be";
  if (bytes.includes(0) || countControls(bytes) > bytes.length / 50) return undefined;
  const { detect } = await import("chardet");
  const guess = (detect(nonAsciiSample(bytes)) ?? "").toLowerCase();
  // Text labelled as Latin 1 is decoded as Windows-1252 everywhere.
  return guess !== "iso-8859-1" && guess !== "utf-8" && isKnownEncoding(guess) ? guess : "windows-1252";
};

const isPlainText = (bytes: Buffer): boolean => !bytes.includes(0) && isUtf8Start(bytes);

/** A character cut off at the end of the sample is not an error. */
const isUtf8Start = (bytes: Buffer): boolean => {
  if (isUtf8(bytes)) return true;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
};

const countControls = (bytes: Buffer): number => {
  let sum = 0;
  for (const byte of bytes)
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) sum += 1;
  return sum;
};

/** The part around the first non-ASCII byte, where encodings differ. */
const nonAsciiSample = (bytes: Buffer): Buffer => {
  const first = bytes.findIndex((byte) => byte > 127);
  return bytes.subarray(Math.max(0, first - 2 ** 12), first + 2 ** 14);
};

const isKnownEncoding = (encoding: string): boolean => {
  try {
    return new TextDecoder(encoding).encoding !== "";
  } catch {
    return false;
  }
};
