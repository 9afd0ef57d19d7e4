import type { Blobs } from "../../../conversation/entry.ts";
import type { Media, UserPart } from "../../../conversation/parts.ts";
import { encodeImage } from "../../images/encode.ts";
import { viewImageLine } from "../../images/view.ts";
import { line } from "../../text/line.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

/** Height limit of an image, in rows. */
const maxRows = 16;

/** Shows media: as an image if the terminal can, and as a line of facts, with its name unless the text above has it. */
export const printMedia = (frontEnd: FrontEnd, media: Media, blobs: Blobs, above = ""): void => {
  const { mimeType, source, name = media.id, width, height } = media;
  const columns = frontEnd.width();
  if (source.type === "uri")
    return frontEnd.print([line(`[${name}: ${mimeType}, at ${source.uri}]`, { tone: "muted" })]);
  const pixels = width === undefined || height === undefined ? undefined : { width, height };
  const facts = { mimeType, bytes: source.bytes, ...(pixels && { pixels }) };
  frontEnd.print([viewImageLine(above.includes(name) ? facts : { ...facts, name }, columns)]);
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

/** Shows the media of a prompt. Several are named, so that they can be told apart. */
export const showPromptMedia = (
  parts: readonly UserPart[],
  prompt: string,
  showMedia: (media: Media, above: string) => void,
): void => {
  const media = parts.filter((part) => part.type === "media");
  for (const each of media) showMedia(each, media.length === 1 ? prompt : "");
};
