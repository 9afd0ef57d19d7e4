import { createHash } from "node:crypto";
import type { Media, MediaKind } from "./parts.ts";

/** Metadata of a media file. */
export type MediaFacts = {
  readonly mimeType: string;
  readonly kind?: MediaKind;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
};

/** A media part, and the blob to put into the store with it. */
export type StoredMedia = { readonly media: Media; readonly blob: { readonly hash: string; readonly base64: string } };

/** Creates a media part and its blob from base64 (either alphabet, padded or not). */
export const storeBase64 = (base64: string, given: MediaFacts): StoredMedia => {
  const facts = toWellFormedFacts(given);
  const clean = normalizeBase64(base64);
  const hash = createHash("sha256").update(clean, "base64").digest("hex");
  const bytes = Math.floor((clean.replace(/=+$/, "").length * 3) / 4);
  return {
    media: { type: "media", ...facts, ...mediaIdentity(facts, hash), source: { type: "blob", hash, bytes } },
    blob: { hash, base64: clean },
  };
};

/** Creates a media part and its blob from raw bytes. */
export const storeBytes = (bytes: Uint8Array, facts: MediaFacts): StoredMedia =>
  storeBase64(Buffer.from(bytes).toString("base64"), facts);

/** Creates a media part for a file at a URL. */
export const mediaAt = (uri: string, given: MediaFacts): Media => {
  const facts = toWellFormedFacts(given);
  return {
    type: "media",
    ...facts,
    ...mediaIdentity(facts, createHash("sha256").update(uri).digest("hex")),
    source: { type: "uri", uri: uri.toWellFormed() },
  };
};

/** Returns the media kind of a MIME type; everything that is not image, audio or video is a document. */
export const mediaKindOf = (mimeType: string): MediaKind => {
  const [top] = mimeType.split("/", 1);
  return top === "image" || top === "audio" || top === "video" ? top : "document";
};

const toWellFormedFacts = (facts: MediaFacts): MediaFacts => ({
  ...facts,
  mimeType: facts.mimeType.toWellFormed(),
  ...(facts.name === undefined ? {} : { name: facts.name.toWellFormed() }),
});

const mediaIdentity = (facts: MediaFacts, hash: string): { kind: MediaKind; id: string } => ({
  kind: facts.kind ?? mediaKindOf(facts.mimeType),
  id: `file-${hash.slice(0, 8)}`,
});

/** Returns valid base64 as the same string object, so that it is in memory once; other input is decoded leniently and encoded again. */
const normalizeBase64 = (base64: string): string =>
  base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
    ? base64
    : Buffer.from(base64, "base64").toString("base64");
