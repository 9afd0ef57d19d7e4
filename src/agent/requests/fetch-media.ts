import type { Entry } from "../../conversation/entry.ts";
import { storeBytes } from "../../conversation/media.ts";
import type { Media } from "../../conversation/parts.ts";
import { acceptsAddress } from "../../transcript/place.ts";
import type { MediaRow, MediaRows } from "../../transcript/target.ts";
import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";
import type { ModelInputRegistry } from "../models/input.ts";
import type { ModelRef } from "../models/parse.ts";

/** Downloads a public URL, at most `most` bytes. Throws errors with a message for people. */
export type FetchFile = (
  url: string,
  options: { readonly most: number; readonly signal: AbortSignal },
) => Promise<{ readonly status: number; readonly type: string; readonly bytes: Uint8Array; readonly cut: boolean }>;

/** Options of a media fetcher. */
export type MediaFetcherOptions = {
  readonly journal: Journal;
  readonly fetch: FetchFile;
  /** The kinds of media a model accepts, where that is known better than by its provider. */
  readonly inputs?: Pick<ModelInputRegistry, "get"> | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** The largest file that is downloaded: no provider accepts a larger one. */
const maxBytes = 20 * 2 ** 20;

/**
 * Downloads media that a conversation names by URL, for models whose API accepts only bytes. A file is downloaded once
 * and recorded in the conversation, so every later request holds the same bytes.
 */
export class MediaFetcher {
  readonly #options: MediaFetcherOptions;
  /** URLs that are not downloaded yet, with the media of each and its position. */
  readonly #missing = new Map<string, { readonly media: Media; readonly where: keyof MediaRows }>();
  readonly #done = new Set<string>();
  #scanned = 0;

  constructor(options: MediaFetcherOptions) {
    this.#options = options;
  }

  /** Downloads the media the next request needs. Resolves at once if there is none. */
  async prepare(to: ModelRef, signal: AbortSignal): Promise<void> {
    this.#scan();
    if (this.#missing.size === 0) return;
    const { media: rows } = to.provider.destination(to.model, undefined, [], this.#options.inputs?.get(to)).target;
    const needed = [...this.#missing].filter(([, { media, where }]) => mustFetch(rows, media, rows[where] ?? {}));
    await Promise.all(needed.map(([uri, { media }]) => this.#fetch(uri, media, signal)));
  }

  #scan(): void {
    const { entries, dropped } = this.#options.journal.ledger;
    // Entries released from memory were scanned before.
    for (; this.#scanned < entries.length + dropped; this.#scanned++) {
      const entry = entries[this.#scanned - dropped];
      if (entry === undefined) continue;
      if (entry.type === "copy") this.#markDone(entry.uri);
      for (const found of findAddresses(entry))
        if (!this.#done.has(found.uri) && !this.#missing.has(found.uri)) this.#missing.set(found.uri, found);
    }
  }

  #markDone(uri: string): void {
    this.#missing.delete(uri);
    this.#done.add(uri);
  }

  async #fetch(uri: string, media: Media, signal: AbortSignal): Promise<void> {
    const { journal, emit } = this.#options;
    try {
      const { bytes, mimeType } = await this.#download(uri, media, signal);
      const copy = storeBytes(bytes, { mimeType, kind: media.kind });
      journal.addBlobs({ [copy.blob.hash]: copy.blob.base64 });
      journal.ledger.copy(uri, copy.media);
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      const text = `${uri.slice(0, 200)} could not be fetched, so the model gets only its URL. ${error.message}`;
      emit({ type: "notice", text });
    }
    this.#markDone(uri);
  }

  async #download(
    uri: string,
    media: Media,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly mimeType: string }> {
    const { status, type, bytes, cut } = await this.#options.fetch(uri, { most: maxBytes, signal });
    if (status >= 400) throw new Error(`The server answered with ${status}.`);
    if (cut) throw new Error(`It has more than ${maxBytes / 2 ** 20} MB.`);
    const { sniffContentType, sniffLength } = await import("../../tools/files/sniff.ts");
    const found = await sniffContentType(bytes.subarray(0, sniffLength), uri);
    if (found.kind === "media") return { bytes, mimeType: found.mimeType };
    const declaredType = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    // A page that says "not found" or "sign in" may have status 200 too.
    if (found.kind === "text" && !isTextType(media.mimeType))
      throw new Error(`It is text (${declaredType || "of no type"}), not ${media.mimeType}.`);
    return {
      bytes,
      mimeType: declaredType === "" || declaredType === "application/octet-stream" ? media.mimeType : declaredType,
    };
  }
}

const isTextType = (mimeType: string): boolean => /^text\/|[/+](json|xml|yaml)$|octet-stream$/.test(mimeType);

/** Only web URLs: others, such as `gs:`, are left as they are. */
const mustFetch = (rows: MediaRows, media: Media, row: MediaRow): boolean =>
  media.source.type === "uri" && /^https?:/i.test(media.source.uri) && !acceptsAddress(rows, media, row);

type MediaAddress = { readonly uri: string; readonly media: Media; readonly where: "user" | "result" | "errorResult" };

const findAddresses = (entry: Entry): readonly MediaAddress[] => {
  const mediaIn = (
    parts: readonly { readonly type: string }[],
    where: MediaAddress["where"],
  ): readonly MediaAddress[] =>
    parts.flatMap((part) => {
      const media = part.type === "media" ? (part as Media) : undefined;
      return media?.source.type === "uri" ? [{ uri: media.source.uri, media, where }] : [];
    });
  switch (entry.type) {
    case "user":
      return mediaIn(entry.parts, "user");
    case "completion":
      return mediaIn(entry.outcome.content, entry.outcome.status === "complete" ? "result" : "errorResult");
    case "model":
    case "compaction":
    case "notice":
    case "copy":
      return [];
  }
};
