import type { Blobs, Conversation } from "../conversation/entry.ts";
import { parseDataUrl } from "../conversation/data-url.ts";
import { importHistory, type ForeignEntry } from "../conversation/import-history.ts";
import type { NewPart } from "../conversation/ledger.ts";
import { mediaAt, storeBase64, storeBytes, type StoredMedia } from "../conversation/media.ts";
import type { Note } from "../conversation/notes.ts";
import type { Content, Media, Outcome, Seal, UserPart } from "../conversation/parts.ts";
import { outcomeUnknown } from "../session/interrupted-calls.ts";
import type { RecordedModel } from "../session/log/record.ts";
import type { ClaimedOrigin } from "./origin.ts";

/** Left out of a conversation, but imported as a session of its own. */
export const otherBranches = "messages of other branches";
export const subagentLines = "lines of subagents (their results are kept)";
export const subagentEvents = "events of subagents (their results are kept)";
export const subagentFiles = "conversations of subagents (their results are kept)";

/** Something that was not imported: what, and how many of it. */
export type Omission = { readonly what: string; readonly count: number };

/** A session of another agent as a conversation of ours, and what was left out. */
export type ImportedConversation = {
  readonly conversation: Conversation;
  readonly title?: string;
  /** The folder the other agent worked in. */
  readonly folder?: string;
  /** The model that answered last, if its provider is certain. */
  readonly model?: RecordedModel;
  readonly leftOut: readonly Omission[];
  readonly notes: readonly Note[];
};

/** Assembles a conversation from the records of another agent. Every reader writes through it, and it writes through the ledger. */
export class ConversationBuilder {
  title: string | undefined;
  folder: string | undefined;
  readonly #events: ForeignEntry[] = [];
  readonly #blobs: Record<string, string> = {};
  readonly #leftOut = new Map<string, number>();
  #model: RecordedModel | undefined;

  /** The number of records so far: the place a later compaction can name. */
  get position(): number {
    return this.#events.length;
  }

  user(parts: readonly UserPart[]): void {
    const kept = parts.filter((part) => part.type !== "text" || part.text !== "");
    if (kept.length > 0) this.#events.push({ type: "user", parts: kept });
  }

  notice(text: string): void {
    if (text !== "") this.#events.push({ type: "notice", text });
  }

  /** Adds a model message. Seals are dropped, and counted, unless the provider is certain. */
  model({ isCertain, ...origin }: ClaimedOrigin, parts: readonly NewPart[]): void {
    const kept = parts.map((part) => (isCertain ? part : this.#withoutSeal(part))).filter(hasContent);
    if (kept.length === 0) return;
    this.#events.push({ type: "model", origin, parts: kept });
    this.#model = isCertain && origin.model !== "" ? { provider: origin.provider, model: origin.model } : undefined;
  }

  result(id: string, outcome: Outcome, tool?: string): void {
    this.#events.push(tool === undefined ? { type: "result", id, outcome } : { type: "result", id, tool, outcome });
  }

  /** Adds a summary that replaces everything before the record at `from`. */
  compaction(summary: string, from: number = this.position): void {
    if (summary.trim() !== "") this.#events.push({ type: "compaction", summary, from });
  }

  /** Stores a file given as base64. Returns nothing, and counts it, if it has no data. */
  mediaFromBase64(base64: unknown, mimeType: unknown, name?: string): readonly Media[] {
    if (typeof base64 !== "string" || base64 === "") return this.omitMedia();
    return [this.#store(storeBase64(base64, { mimeType: mimeOf(mimeType), ...(name === undefined ? {} : { name }) }))];
  }

  /** Stores a file given as a data URL, or refers to one by its web address. Other addresses are counted. */
  mediaFromUrl(url: unknown, name?: string): readonly Media[] {
    if (typeof url !== "string") return this.omitMedia();
    const facts = name === undefined ? {} : { name };
    if (/^https?:\/\//i.test(url)) return [mediaAt(url, { ...facts, mimeType: "image/png", kind: "image" })];
    const inline = /^data:([^;,]*);base64,/i.exec(url);
    if (inline !== null) return this.mediaFromBase64(url.slice(inline[0].length), inline[1], name);
    const other = parseDataUrl(url);
    return other === undefined
      ? this.omitMedia()
      : [this.#store(storeBytes(other.bytes, { ...facts, mimeType: other.mimeType }))];
  }

  omitMedia(): readonly Media[] {
    this.omit("files whose bytes are not in the session");
    return [];
  }

  /** Counts something that is left out. `what` is a plural. */
  omit(what: string, count = 1): void {
    if (count > 0) this.#leftOut.set(what, (this.#leftOut.get(what) ?? 0) + count);
  }

  /** Builds the conversation. Calls without a result become interrupted ones. */
  finish(): ImportedConversation {
    const { entries, notes } = importHistory(this.#events, {
      status: "interrupted",
      content: [{ type: "text", text: outcomeUnknown }],
      synthetic: true,
    });
    return {
      conversation: { version: 1, entries, blobs: this.#blobs satisfies Blobs },
      ...(this.title === undefined || this.title.trim() === "" ? {} : { title: this.title }),
      ...(this.folder === undefined ? {} : { folder: this.folder }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      leftOut: [...this.#leftOut].map(([what, count]) => ({ what, count })),
      notes,
    };
  }

  #store({ media, blob }: StoredMedia): Media {
    this.#blobs[blob.hash] = blob.base64;
    return media;
  }

  #withoutSeal(part: NewPart): NewPart {
    if (part.type === "media" || part.type === "code" || part.seal === undefined) return part;
    const { seal, ...bare } = part;
    if (isSignature(seal)) this.omit("signatures whose provider is not certain");
    return part.type === "call" && seal.id !== undefined ? { ...bare, seal: { id: seal.id } } : bare;
  }
}

/** An outcome with one text, or none if it is empty. */
export const textOutcome = (status: Outcome["status"], text: string): Outcome => ({
  status,
  content: textContent(text),
});

/** A text as content, or nothing if it is empty. */
export const textContent = (text: string): readonly Content[] => (text === "" ? [] : [{ type: "text", text }]);

const isSignature = ({ signature, encrypted, details }: Seal): boolean =>
  signature !== undefined || encrypted !== undefined || details !== undefined;

const hasContent = (part: NewPart): boolean =>
  (part.type !== "text" && part.type !== "thinking") || part.text !== "" || part.seal !== undefined;

const mimeOf = (value: unknown): string =>
  typeof value === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(value) ? value.toLowerCase() : "application/octet-stream";
