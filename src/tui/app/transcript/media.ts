import type { Blobs } from "../../../conversation/entry.ts";
import type { Media } from "../../../conversation/parts.ts";
import { encodeImage } from "../../images/encode.ts";
import { viewImageLine } from "../../images/view.ts";
import { line } from "../../text/line.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

/** Height limit of an image, in rows. */
const maxRows = 16;

/** Shows media: as an image if the terminal can, and as a line of facts. */
export const printMedia = (frontEnd: FrontEnd, media: Media, blobs: Blobs): void => {
  const { mimeType, source, name = media.id, width, height } = media;
  const columns = frontEnd.width();
  if (source.type === "uri")
    return frontEnd.print([line(`[${name}: ${mimeType}, at ${source.uri}]`, { tone: "muted" })]);
  const pixels = width === undefined || height === undefined ? undefined : { width, height };
  frontEnd.print([viewImageLine({ mimeType, bytes: source.bytes, name, ...(pixels && { pixels }) }, columns)]);
  const base64 = blobs[source.hash];
  if (media.kind !== "image" || pixels === undefined || base64 === undefined) return;
  const bytes = Buffer.from(base64, "base64");
  const image = encodeImage(
    frontEnd.imageSupport,
    { bytes, mimeType, pixels },
    { columns, rows: maxRows, cellSize: frontEnd.cellSize },
  );
  if (image !== undefined) frontEnd.printImage(image);
};
