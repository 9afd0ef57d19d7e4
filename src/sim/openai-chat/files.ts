import type { Json } from "../family.ts";
import { asObject, asText } from "../json.ts";
import type { RequestFile } from "../model/types.ts";
import { measureFile } from "../tokens.ts";

/** A file in a message. `isUrl` if it was given by URL. */
type ParsedChatFile = { readonly file: RequestFile; readonly tokens: number; readonly isUrl: boolean };

/** The file of a content part; undefined for text parts. */
export const fileIn = (part: Json): ParsedChatFile | undefined => {
  const fallback = typeOf(asText(part["type"]));
  if (fallback === undefined) return undefined;
  const source = sourceOf(part);
  const [, mime = "", base64 = ""] = /^data:([^;,]*)[^,]*,(.*)$/is.exec(source) ?? [];
  const isAddress = base64 === "" && (source === "" || /^[a-z][a-z0-9+.-]*:/i.test(source));
  const mimeType = mime === "" ? mimeOf(part, fallback) : mime.toLowerCase();
  const kind = kindOf(mimeType) ?? fallback.kind;
  const bare = isAddress ? "" : source;
  const { tokens, ...size } = measureFile({ kind, mimeType, base64: base64 === "" ? bare : base64 });
  return { file: { kind, mimeType, ...size }, tokens, isUrl: isAddress };
};

type ChatFileType = { readonly kind: RequestFile["kind"]; readonly mimeType: string };

/** The part types of all vendors that contain a file, with the default kind and MIME type. */
const typeOf = (type: string): ChatFileType | undefined => {
  switch (type) {
    case "image_url":
      return { kind: "image", mimeType: "image/*" };
    case "input_audio":
    case "audio_url":
      return { kind: "audio", mimeType: "audio/*" };
    case "video_url":
    case "input_video":
    case "video":
      return { kind: "video", mimeType: "video/*" };
    case "file":
    case "file_url":
    case "document_url":
      return { kind: "document", mimeType: "application/pdf" };
    default:
      return undefined;
  }
};

/** The bytes or the URL: in a field named like the part's type, directly or one level down. */
const sourceOf = (part: Json): string => {
  const inner = part[asText(part["type"])];
  const { url, data, file_data: fileData } = asObject(inner);
  return asText(inner) || asText(url) || asText(data) || asText(fileData);
};

const mimeOf = (part: Json, { kind, mimeType }: ChatFileType): string => {
  const format = asText(asObject(part["input_audio"])["format"]);
  return kind === "audio" && format !== "" ? `audio/${format === "mp3" ? "mpeg" : format}` : mimeType;
};

const kindOf = (mimeType: string): RequestFile["kind"] | undefined => {
  const [family] = mimeType.split("/");
  if (family === "image" || family === "audio" || family === "video") return family;
  return family === "application" || family === "text" ? "document" : undefined;
};
