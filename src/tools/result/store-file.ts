import { mediaAt, storeBytes, type StoredMedia } from "../../conversation/media.ts";
import type { Media } from "../../conversation/parts.ts";
import type { ToolFile, ToolFileUrl } from "../tool.ts";

/** Converts a tool's file to a media part, with the blob to store where the tool returned bytes and not a URL. */
export const storeFile = (
  file: ToolFile | ToolFileUrl,
): { readonly media: Media; readonly blob?: StoredMedia["blob"] } => {
  if ("url" in file) {
    const { type: _, url, ...facts } = file;
    return { media: mediaAt(url, facts) };
  }
  const { type: _, bytes, ...facts } = file;
  return storeBytes(bytes, facts);
};
