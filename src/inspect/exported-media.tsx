import type { VNode } from "preact";
import { shrinkPng } from "../images/shrink.ts";
import type { ReadSession } from "../session/store/store.ts";
import type { ReadingMedia, ReadingRow } from "./data/reading-rows.ts";
import { formatBytes } from "./view/format.ts";

/** Larger images are encoded again, so that a few screenshots do not fill the file. */
const maxImageBytes = 400_000;
/** The longest side of an image encoded again, and of one for which there is little space left. */
const sides = [1280, 480];

/** The media of an exported file: shown where they are stored, made smaller, or only named. */
export type ExportedMedia = {
  readonly show: (media: ReadingMedia) => VNode | null;
  /** Messages that name media made smaller or left out. */
  readonly notes: readonly string[];
};

/** Chooses the media that fit, in the order of the conversation. SVG is never shown: it can hold scripts. */
export const prepareMedia = async (
  { blobs }: Pick<ReadSession, "blobs">,
  rows: readonly ReadingRow[],
  budget: number,
): Promise<ExportedMedia> => {
  const addresses = new Map<string, string>();
  const omitted = new Set<string>();
  const smaller = new Set<string>();
  let left = budget;
  for (const { hash = "", mimeType, name, id } of listMedia(rows)) {
    const known = addresses.get(hash);
    const base64 = known?.slice(known.indexOf(",") + 1) ?? (await fitWithin(blobs[hash], mimeType, left));
    if (base64 === undefined || base64.length > left) {
      omitted.add(name ?? id);
      continue;
    }
    left -= base64.length;
    const original = blobs[hash] ?? "";
    if (known === undefined && base64.length < original.length)
      smaller.add(`${name ?? id} (${formatBytes(bytesOf(original))}, here ${formatBytes(bytesOf(base64))})`);
    addresses.set(hash, `data:${mimeType};base64,${base64}`);
  }
  return {
    show: (media) => viewMedia(media, addresses.get(media.hash ?? "")),
    notes: [
      ...(smaller.size === 0 ? [] : [`Smaller than in the session: ${[...smaller].join(", ")}.`]),
      ...(omitted.size === 0 ? [] : [`Named but not contained: ${[...omitted].join(", ")}.`]),
    ],
  };
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

/** The data as base64: as it is, or encoded again if it is large. Undefined if it may not be shown, or does not fit. */
const fitWithin = async (base64: string | undefined, mimeType: string, left: number): Promise<string | undefined> => {
  const isShown = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+)$/.test(mimeType);
  if (base64 === undefined || !isShown || left <= 0) return undefined;
  const isLarge = bytesOf(base64) > maxImageBytes || base64.length > left;
  if (!isLarge || mimeType !== "image/png") return base64;
  for (const side of sides) {
    const small = await shrinkPng(Buffer.from(base64, "base64"), side);
    const encoded = small === undefined ? base64 : Buffer.from(small).toString("base64");
    if (encoded.length <= left) return encoded;
  }
  return undefined;
};

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4);
