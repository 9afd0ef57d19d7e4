import { truncate, line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";

/** Facts about an image or another file. */
export type ImageFacts = {
  readonly mimeType: string;
  readonly bytes: number;
  readonly name?: string;
  readonly pixels?: { readonly width: number; readonly height: number };
};

/** Describes an image in one line. Without a name, the line belongs to the text above it, which names the image. */
export const viewImageLine = ({ mimeType, bytes, name, pixels }: ImageFacts, width: number): StyledLine => {
  const size = pixels === undefined ? "" : `, ${pixels.width} × ${pixels.height} pixels`;
  const facts = `${mimeType}, ${formatBytes(bytes)}${size}`;
  return truncate(line(name === undefined ? `  ${facts}` : `[${name}: ${facts}]`, { tone: "muted" }), width);
};

/** Formats a byte count. */
const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ["KB", "MB", "GB"];
  const step = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toFixed(1)} ${units[step - 1] ?? ""}`;
};
