import { parseDataUrl } from "../../conversation/data-url.ts";
import { isObject } from "../../conversation/json.ts";
import { readImageSize } from "../files/image-size.ts";
import { sniffContentType, sniffLength } from "../files/sniff.ts";
import type { ToolFile, ToolFileUrl } from "../tool.ts";

/** Bytes in any of JavaScript's types for them. */
export type BinaryData = Uint8Array | Uint8ClampedArray | ArrayBuffer | Blob;

/** Whether a value is bytes. */
export const isBinary = (value: unknown): value is BinaryData =>
  value instanceof Uint8Array ||
  value instanceof Uint8ClampedArray ||
  value instanceof ArrayBuffer ||
  value instanceof Blob;

/** Converts bytes to a file. Without a type, it is detected from the bytes. */
export const readBinary = async (value: BinaryData, args?: string, name?: string): Promise<ToolFile> => {
  const bytes = await bytesOf(value);
  const said = args ?? (value instanceof Blob && value.type !== "" ? value.type : undefined);
  const named = name ?? (value instanceof File && value.name !== "" ? value.name : undefined);
  const mimeType = said ?? (await sniffType(bytes, named ?? ""));
  const facts = named === undefined ? {} : { name: named };
  return { type: "file", mimeType, bytes, ...facts, ...readImageSize(bytes, mimeType) };
};

/**
 * Converts a value to a file: bytes; a `file` or `media` part; a file with its blob; Gemini's `inlineData` and
 * `fileData`; an object with nothing but a media type and its data or URL. Undefined for any other value.
 */
export const toFile = async (value: unknown): Promise<ToolFile | ToolFileUrl | undefined> => {
  if (isBinary(value)) return readBinary(value);
  if (!isObject(value)) return undefined;
  const only = Object.keys(value).length === 1 ? (value["inlineData"] ?? value["fileData"]) : undefined;
  if (isObject(only)) return toFile(only);
  const { media, blob, ...rest } = value;
  if (isObject(media) && isObject(blob) && Object.keys(rest).length === 0)
    return fileFromObject({ ...media, data: blob["base64"] });
  const { source } = value;
  if (value["type"] === "media") return isObject(source) ? fileFromObject({ ...value, url: source["uri"] }) : undefined;
  if (value["type"] === "file") return fileFromObject(value);
  return Object.keys(value).every((key) => fileKeys.has(key)) ? fileFromObject(value) : undefined;
};

const fileKeys: ReadonlySet<string> = new Set(
  "type mimeType mime_type mediaType data bytes url uri fileUri file_uri name displayName display_name".split(" "),
);

const fileFromObject = async (
  value: Readonly<Record<string, unknown>>,
): Promise<ToolFile | ToolFileUrl | undefined> => {
  const text = (...keys: readonly string[]): string | undefined => {
    const found = keys.map((key) => value[key]).find((item) => typeof item === "string" && item !== "");
    return typeof found === "string" ? found : undefined;
  };
  const mimeType = text("mimeType", "mime_type", "mediaType");
  const data = value["bytes"] ?? value["data"];
  const name = text("name", "displayName", "display_name");
  const url = text("url", "uri", "fileUri", "file_uri");
  const facts = { ...(name === undefined ? {} : { name }), ...numberFields(value) };
  const inline = isBinary(data)
    ? data
    : typeof data === "string" && mimeType !== undefined
      ? decodeBase64(data)
      : undefined;
  if (inline !== undefined) return { ...(await readBinary(inline, mimeType, name)), ...facts };
  if (url === undefined || (mimeType === undefined && value["type"] !== "file")) return undefined;
  const embedded = parseDataUrl(url);
  if (embedded !== undefined)
    return { ...(await readBinary(embedded.bytes, mimeType ?? embedded.mimeType, name)), ...facts };
  return { type: "file", mimeType: mimeType ?? typeFromUrl(url), url, ...facts };
};

const numberFields = (
  value: Readonly<Record<string, unknown>>,
): { readonly width?: number; readonly height?: number; readonly pages?: number } =>
  Object.fromEntries(
    ["width", "height", "pages"].flatMap((key) => (typeof value[key] === "number" ? [[key, value[key]]] : [])),
  );

const decodeBase64 = (text: string): Uint8Array | undefined =>
  text !== "" && /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(text) ? Buffer.from(text, "base64") : undefined;

const bytesOf = async (value: BinaryData): Promise<Uint8Array> => {
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
};

const sniffType = async (bytes: Uint8Array, name: string): Promise<string> => {
  const found = await sniffContentType(bytes.subarray(0, sniffLength), name);
  if (found.kind === "media") return found.mimeType;
  const isText = found.kind === "text" && found.encoding === "utf-8" && bytes.length > 0;
  return isText ? "text/plain" : "application/octet-stream";
};

/** The media type for the extension of a URL. */
const typeFromUrl = (url: string): string => {
  const ending = /\.([a-z0-9]{2,5})(?:[?#].*)?$/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return typesByExtension[ending] ?? "application/octet-stream";
};

const typesByExtension: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
};
