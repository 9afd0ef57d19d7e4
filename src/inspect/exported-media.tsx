import type { VNode } from "preact";
import { shrinkPng } from "../images/shrink.ts";
import type { ReadSession } from "../session/store/store.ts";
import type { ReadingMedia, ReadingRow } from "./data/reading-rows.ts";
import { formatBytes } from "./view/format.ts";

/**
 * Which images and audio an exported file contains: `bounded` encodes large PNGs again and takes up to half of the file,
 * `all` keeps every one as it is while the file has space, `none` only names them.
 */
export type ExportedImages = "all" | "bounded" | "none";

export const exportedImages: readonly ExportedImages[] = ["bounded", "all", "none"];

/** Larger images are encoded again, so that a few screenshots do not fill the file. */
const maxImageBytes = 400_000;
/** The longest side of an image encoded again, and of one for which there is little space left. */
const [wideSide, smallSide] = [1280, 480];

/** The media of an exported file: shown where they are stored, made smaller, or only named. */
export type ExportedMedia = {
  readonly show: (media: ReadingMedia) => VNode | null;
  /** Whether a row shows any. */
  readonly isIn: (row: ReadingRow) => boolean;
  /** Messages that name media made smaller or left out. */
  readonly notes: readonly string[];
};

/** A file that the rows show, once or more often. */
type ShownFile = {
  readonly media: ReadingMedia;
  readonly original: string;
  base64: string | undefined;
  readonly count: number;
};

/** Chooses the media that fit. If not all do, the largest is left out first. SVG is never shown: it can hold scripts. */
export const prepareMedia = async (
  { blobs }: Pick<ReadSession, "blobs">,
  rows: readonly ReadingRow[],
  { images, room }: { readonly images: ExportedImages; readonly room: number },
): Promise<ExportedMedia> => {
  const files = new Map<string, ShownFile>();
  for (const media of listMedia(rows)) {
    const key = media.hash ?? media.id;
    const original = blobs[media.hash ?? ""] ?? "";
    const isShown = images !== "none" && original !== "" && canBeShown.test(media.mimeType);
    const base64 = isShown ? original : undefined;
    const known = files.get(key);
    files.set(key, known === undefined ? { media, original, base64, count: 1 } : { ...known, count: known.count + 1 });
  }
  const budget = images === "bounded" ? room / 2 : room;
  const largest = (isWanted: (file: ShownFile) => boolean): ShownFile | undefined =>
    [...files.values()]
      .filter((file) => file.base64 !== undefined && isWanted(file))
      .toSorted((one, other) => costOf(other) - costOf(one))[0];
  const isTooMuch = (): boolean => [...files.values()].reduce((sum, file) => sum + costOf(file), 0) > budget;
  if (images === "bounded") {
    for (const file of files.values())
      if (bytesOf(file.original) > maxImageBytes) file.base64 = await shrink(file, wideSide);
    const small = new Set<ShownFile>();
    while (isTooMuch()) {
      const file = largest((each) => isPng(each) && !small.has(each));
      if (file === undefined) break;
      small.add(file);
      file.base64 = await shrink(file, smallSide);
    }
  }
  while (isTooMuch()) {
    const file = largest(() => true);
    if (file === undefined) break;
    file.base64 = undefined;
  }
  const addressOf = (media: ReadingMedia): string | undefined => {
    const base64 = files.get(media.hash ?? media.id)?.base64;
    return base64 === undefined ? undefined : `data:${media.mimeType};base64,${base64}`;
  };
  return {
    show: (media) => viewMedia(media, addressOf(media)),
    isIn: (row) => listMedia([row]).some((media) => addressOf(media) !== undefined),
    notes: describeFiles([...files.values()]),
  };
};

const canBeShown = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+)$/;

const isPng = ({ media }: ShownFile): boolean => media.mimeType === "image/png";

/** The bytes a file adds to the page: its address and the tag around it, wherever it is shown. */
const costOf = ({ media, base64, count }: ShownFile): number =>
  base64 === undefined ? 0 : count * (base64.length + 300 + 6 * Buffer.byteLength(media.name ?? media.id));

/** Encodes a PNG again; other kinds stay as they are. */
const shrink = async (file: ShownFile, side: number): Promise<string | undefined> => {
  if (!isPng(file) || file.base64 === undefined) return file.base64;
  const small = await shrinkPng(Buffer.from(file.original, "base64"), side);
  const encoded = small === undefined ? file.original : Buffer.from(small).toString("base64");
  return encoded.length < file.base64.length ? encoded : file.base64;
};

const describeFiles = (files: readonly ShownFile[]): readonly string[] => {
  const nameOf = ({ media, original }: ShownFile): string =>
    `${media.name ?? media.id}${original === "" ? "" : ` (${formatBytes(bytesOf(original))}`}`;
  const smaller = files.flatMap((file) =>
    file.base64 === undefined || file.base64.length === file.original.length
      ? []
      : [`${nameOf(file)}, here ${formatBytes(bytesOf(file.base64))})`],
  );
  const omitted = files
    .filter(({ base64 }) => base64 === undefined)
    .map((file) => `${nameOf(file)}${file.original === "" ? "" : ")"}`);
  return [
    ...(smaller.length === 0 ? [] : [`Smaller than in the session: ${joinSome(smaller)}.`]),
    ...(omitted.length === 0 ? [] : [`Named but not contained: ${joinSome(omitted)}.`]),
  ];
};

const maxNames = 20;
const maxNameLength = 80;

/** Joins the first names of a list, each cut to a length, and counts the others. */
export const joinSome = (names: readonly string[]): string => {
  const shown = names.slice(0, maxNames).map((name) => {
    const characters = Array.from(name);
    return characters.length > maxNameLength ? `${characters.slice(0, maxNameLength - 1).join("")}…` : name;
  });
  const rest = names.length - shown.length;
  return `${shown.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
};

const viewMedia = ({ kind, name, id }: ReadingMedia, address: string | undefined): VNode | null => {
  if (address === undefined) return null;
  return kind === "audio" ? (
    <audio controls src={address} aria-label={name ?? id} />
  ) : (
    <img src={address} alt={name ?? id} loading="lazy" />
  );
};

const listMedia = (rows: readonly ReadingRow[]): readonly ReadingMedia[] => {
  const found: ReadingMedia[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === "object" && value !== null) {
      if ("type" in value && value.type === "media") found.push(value as ReadingMedia);
      else Object.values(value).forEach(visit);
    }
  };
  visit(rows.map(({ parts }) => parts));
  return found;
};

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4);
