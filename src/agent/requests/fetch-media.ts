import type { Entry } from "../../conversation/entry.ts";
import { storeBytes } from "../../conversation/media.ts";
import type { Media } from "../../conversation/parts.ts";
import { acceptsAddress } from "../../transcript/place.ts";
import type { MediaRow, MediaRows } from "../../transcript/target.ts";
import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";
import type { ModelInputRegistry } from "../models/input.ts";
import type { ModelRef } from "../models/parse.ts";

/** Fetches a public address: at most `most` bytes. Throws what a person can read. */
export type FetchFile = (
  url: string,
  options: { readonly most: number; readonly signal: AbortSignal },
) => Promise<{ readonly status: number; readonly type: string; readonly bytes: Uint8Array; readonly cut: boolean }>;

/** What fetching needs. */
export type MediaFetcherOptions = {
  readonly journal: Journal;
  readonly fetch: FetchFile;
  /** The kinds of files a model takes, where that is known better than by its provider. */
  readonly inputs?: Pick<ModelInputRegistry, "get"> | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** The largest file that is fetched: no provider takes a larger one. */
const maxBytes = 20 * 2 ** 20;

/**
 * Fetches files a conversation names by address, for models whose API takes only bytes. A file is fetched once and
 * recorded in the conversation, so every later request holds the same bytes.
 */
export class MediaFetcher {
  readonly #options: MediaFetcherOptions;
  /** Addresses that were not fetched yet, with a file that names each and where it stands. */
  readonly #open = new Map<string, { readonly media: Media; readonly where: keyof MediaRows }>();
  readonly #done = new Set<string>();
  #looked = 0;

  constructor(options: MediaFetcherOptions) {
    this.#options = options;
  }

  /** Fetches what the next request needs. Resolves at once where there is nothing to fetch. */
  async prepare(to: ModelRef, signal: AbortSignal): Promise<void> {
    this.#look();
    if (this.#open.size === 0) return;
    const { media: rows } = to.provider.destination(to.model, undefined, [], this.#options.inputs?.get(to)).target;
    const wanted = [...this.#open].filter(([, { media, where }]) => mustFetch(rows, media, rows[where] ?? {}));
    await Promise.all(wanted.map(([uri, { media }]) => this.#fetch(uri, media, signal)));
  }

  #look(): void {
    const { entries, dropped } = this.#options.journal.ledger;
    // Entries that are no longer held were looked at before.
    for (; this.#looked < entries.length + dropped; this.#looked++) {
      const entry = entries[this.#looked - dropped];
      if (entry === undefined) continue;
      if (entry.type === "copy") this.#settle(entry.uri);
      for (const found of findAddresses(entry))
        if (!this.#done.has(found.uri) && !this.#open.has(found.uri)) this.#open.set(found.uri, found);
    }
  }

  #settle(uri: string): void {
    this.#open.delete(uri);
    this.#done.add(uri);
  }

  async #fetch(uri: string, media: Media, signal: AbortSignal): Promise<void> {
    const { journal, emit: tell } = this.#options;
    try {
      const { bytes, mimeType } = await this.#download(uri, media, signal);
      const copy = storeBytes(bytes, { mimeType, kind: media.kind });
      journal.addBlobs({ [copy.blob.hash]: copy.blob.base64 });
      journal.ledger.copy(uri, copy.media);
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      const text = `${uri.slice(0, 200)} could not be fetched, so the model is only told of it. ${error.message}`;
      tell({ type: "notice", text });
    }
    this.#settle(uri);
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
    const said = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    // A page that says "not found" or "sign in" comes with 200 as well.
    if (found.kind === "text" && !isTextType(media.mimeType))
      throw new Error(`It is text (${said || "of no type"}), not ${media.mimeType}.`);
    return { bytes, mimeType: said === "" || said === "application/octet-stream" ? media.mimeType : said };
  }
}

const isTextType = (mimeType: string): boolean => /^text\/|[/+](json|xml|yaml)$|octet-stream$/.test(mimeType);

/** An address no API could fetch, such as `gs:`, is left as it is. */
const mustFetch = (rows: MediaRows, media: Media, row: MediaRow): boolean =>
  media.source.type === "uri" && /^https?:/i.test(media.source.uri) && !acceptsAddress(rows, media, row);

type MediaAddress = { readonly uri: string; readonly media: Media; readonly where: "user" | "result" | "errorResult" };

const findAddresses = (entry: Entry): readonly MediaAddress[] => {
  const named = (parts: readonly { readonly type: string }[], where: MediaAddress["where"]): readonly MediaAddress[] =>
    parts.flatMap((part) => {
      const media = part.type === "media" ? (part as Media) : undefined;
      return media?.source.type === "uri" ? [{ uri: media.source.uri, media, where }] : [];
    });
  switch (entry.type) {
    case "user":
      return named(entry.parts, "user");
    case "completion":
      return named(entry.outcome.content, entry.outcome.status === "complete" ? "result" : "errorResult");
    case "model":
    case "compaction":
    case "notice":
    case "copy":
      return [];
  }
};
