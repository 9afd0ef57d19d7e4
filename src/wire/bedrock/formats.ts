import type { MediaKind } from "../../conversation/parts.ts";

/** Returns Bedrock's format name for a MIME type. */
export const formatOf = (kind: MediaKind, mimeType: string): string => {
  const type = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  return formats[kind].find(([, known]) => known === type)?.[0] ?? type.slice(type.indexOf("/") + 1);
};

/** Returns the MIME type of a Bedrock format name; without a name, the most common of its kind. */
export const mimeTypeOf = (kind: MediaKind, format: string | undefined): string => {
  const short = format?.toLowerCase().replace(`${kind}/`, "") ?? formats[kind][0]![0];
  return (
    formats[kind].find(([name]) => name === short)?.[1] ??
    (kind === "document" ? `application/${short}` : `${kind}/${short}`)
  );
};

type MediaFormats = readonly (readonly [format: string, mimeType: string])[];

/** The first row of a format is used for reading. */
const formats: Readonly<Record<MediaKind, MediaFormats>> = {
  image: [
    ["png", "image/png"],
    ["jpeg", "image/jpeg"],
    ["jpeg", "image/jpg"],
    ["gif", "image/gif"],
    ["webp", "image/webp"],
  ],
  document: [
    ["pdf", "application/pdf"],
    ["csv", "text/csv"],
    ["doc", "application/msword"],
    ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["xls", "application/vnd.ms-excel"],
    ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    ["html", "text/html"],
    ["txt", "text/plain"],
    ["md", "text/markdown"],
    ["md", "text/x-markdown"],
  ],
  audio: [
    ["mp3", "audio/mpeg"],
    ["mp3", "audio/mp3"],
    ["wav", "audio/wav"],
    ["wav", "audio/x-wav"],
    ["flac", "audio/flac"],
    ["m4a", "audio/mp4"],
    ["m4a", "audio/x-m4a"],
    ["ogg", "audio/ogg"],
    ["opus", "audio/opus"],
    ["aac", "audio/aac"],
    ["webm", "audio/webm"],
    ["mka", "audio/x-matroska"],
  ],
  video: [
    ["mp4", "video/mp4"],
    ["mov", "video/quicktime"],
    ["mkv", "video/x-matroska"],
    ["webm", "video/webm"],
    ["flv", "video/x-flv"],
    ["mpeg", "video/mpeg"],
    ["mpg", "video/mpg"],
    ["wmv", "video/x-ms-wmv"],
    ["three_gp", "video/3gpp"],
  ],
};
