import type { Origin, ProviderField, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import { importHistory, type ForeignEntry } from "../conversation/import-history.ts";
import { isObject, toPlainJson, type JsonObject } from "../conversation/json.ts";
import type { NewPart } from "../conversation/ledger.ts";
import { mediaKindOf, mediaAt, storeBase64, type MediaFacts } from "../conversation/media.ts";
import { note, type Note } from "../conversation/notes.ts";
import type { Media, Outcome, UserPart } from "../conversation/parts.ts";
import { findFields, lossMessage, type FieldTable } from "./provider-fields.ts";
import type { DecodedRequest, RequestSettings } from "./wire.ts";

/** A collector for what a body holds, shared by the readers of all families. Nothing it is given can make it throw. */
export class RequestReader {
  readonly notes: Note[] = [];
  readonly #events: ForeignEntry[] = [];
  readonly #blobs: Record<string, string> = {};
  readonly #origin: Origin;
  readonly #fields: ProviderField[] = [];
  readonly #carried = new Set<string>();
  readonly #marks: { readonly pointer: string; readonly ttl: string | undefined }[] = [];

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  user(parts: readonly UserPart[]): void {
    if (parts.length > 0) this.#events.push({ type: "user", parts });
  }

  notice(text: string): void {
    if (text !== "") this.#events.push({ type: "notice", text });
  }

  model(parts: readonly NewPart[]): void {
    if (parts.length > 0) this.#events.push({ type: "model", origin: this.#origin, parts });
  }

  result(id: string, outcome: Outcome, tool?: string): void {
    this.#events.push(tool === undefined ? { type: "result", id, outcome } : { type: "result", id, tool, outcome });
  }

  /** A file given as base64. */
  mediaFromBase64(base64: string, facts: MediaFacts): Media {
    const { media, blob } = storeBase64(base64, facts);
    this.#blobs[blob.hash] = blob.base64;
    return media;
  }

  /** A file given by address; `data:` addresses are files given as base64. */
  mediaFromUri(uri: string, facts: Partial<MediaFacts> & { readonly kind: Media["kind"] }): Media {
    const inline = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(uri);
    if (inline !== null && inline[2]!.endsWith(";base64"))
      return this.mediaFromBase64(uri.slice(inline[0].length), withKind(inline[1]!, facts));
    return mediaAt(uri, { ...facts, mimeType: facts.mimeType ?? guessType(uri, facts.kind) });
  }

  /** Says that something in the body has no place in a conversation. */
  noteUnknownPart(what: string, pointer: string): void {
    this.notes.push(note("unknown-part", `${what} at ${pointer} has no counterpart elsewhere and is left out.`));
  }

  /** Says that only the words of something are kept. */
  noteShownAsText(what: string, pointer: string): void {
    this.notes.push(note("media-as-text", `The ${what} at ${pointer} is shown as text.`));
  }

  /** Says which fields of an object were not carried over. */
  noteUnreadFields(body: JsonObject | Record<string, unknown>, known: readonly string[], pointer = ""): void {
    for (const key of Object.keys(body))
      if (!known.includes(key) && !this.#carried.has(`${pointer}/${key}`))
        this.notes.push(note("unread-field", lossMessage(`${pointer}/${key}`)));
  }

  /** Takes note of a cache marker. A conversation has none: every request sets its own. */
  noteCacheMarker(marker: unknown, pointer: string): void {
    if (isObject(marker)) this.#marks.push({ pointer, ttl: stringOf(marker["ttl"]) });
  }

  /** Keeps the fields that only this API knows, for a request to the same model. */
  carryFields(body: Record<string, unknown>, table: FieldTable, root = ""): void {
    for (const { field, pointer } of findFields(body, table, root)) {
      this.#fields.push(field);
      this.#carried.add(pointer);
    }
  }

  /** Keeps a tool that only this API runs, for a request to the same model. `list` is where tools stand. */
  carryTool(list: string, tool: Record<string, unknown>, pointer: string): void {
    const what = JSON.stringify(tool["type"] ?? Object.keys(tool)[0] ?? "nothing");
    const loss = `A tool of the kind ${what} at ${pointer} has no counterpart elsewhere and is left out.`;
    this.#fields.push({ at: `${list}/-`, value: toPlainJson(tool).value, kind: "unknown-part", loss });
  }

  /** Keeps one field that only this API knows, for a request to the same model. */
  carryField(field: Omit<ProviderField, "loss">, pointer: string): void {
    this.#fields.push({ ...field, value: toPlainJson(field.value).value, loss: lossMessage(pointer) });
  }

  /** The fields of a declared tool that only this API knows. */
  toolFields(tool: Record<string, unknown>, known: readonly string[], pointer: string): { extra?: ProviderFields } {
    const { provider, model } = this.#origin;
    const fields = known
      .filter((key) => tool[key] !== undefined && tool[key] !== null && tool[key] !== false)
      .map((key) => ({ at: key, value: toPlainJson(tool[key]).value, loss: lossMessage(`${pointer}/${key}`) }));
    return fields.length === 0 ? {} : { extra: { provider, model, fields } };
  }

  finish(head: {
    system?: string | undefined;
    tools?: readonly ToolDeclaration[];
    settings: RequestSettings;
    model?: string | undefined;
  }): DecodedRequest {
    const { entries, notes } = importHistory(this.#events);
    const { provider, model } = this.#origin;
    const settings = { ...head.settings, ...this.#cache(head.settings) };
    // What a server runs is put in first: other fields ask whether there are tools.
    const fields = this.#fields.toSorted(
      (one, other) => Number(other.at.endsWith("/-")) - Number(one.at.endsWith("/-")),
    );
    return {
      conversation: {
        version: 1,
        ...(head.system === undefined || head.system === "" ? {} : { system: head.system.toWellFormed() }),
        ...(head.tools === undefined || head.tools.length === 0
          ? {}
          : { tools: toPlainJson(head.tools).value as unknown as readonly ToolDeclaration[] }),
        entries,
        blobs: this.#blobs,
      },
      settings: fields.length === 0 ? settings : { ...settings, extra: { provider, model, fields } },
      ...(head.model === undefined ? {} : { model: head.model }),
      notes: [...this.notes, ...notes],
    };
  }

  /** The cache setting that stands for all markers; the longest life counts, as a shorter one may not come before it. */
  #cache({ cache }: RequestSettings): Pick<RequestSettings, "cache"> {
    if (this.#marks.length === 0) return {};
    const ttl = this.#marks.map((mark) => mark.ttl).find((life) => life === "1h") ?? this.#marks[0]?.ttl;
    const places = this.#marks.map(({ pointer }) => pointer).join(", ");
    this.notes.push(
      note("setting-adapted", `Cache markers are set anew where the target takes them, not at ${places}.`),
    );
    return { cache: { ...cache, marks: true, ...(ttl === undefined ? {} : { ttl }) } };
  }
}

/**
 * One message of a body, block by block. Results, the user's words and the
 * model's keep their order, whatever role the message was filed under.
 */
export class MessageReader {
  readonly #reader: RequestReader;
  #words: UserPart[] = [];
  #said: NewPart[] = [];

  constructor(reader: RequestReader) {
    this.#reader = reader;
  }

  user(parts: readonly UserPart[]): void {
    if (this.#said.length > 0) this.flush();
    this.#words.push(...parts);
  }

  model(parts: readonly NewPart[]): void {
    if (this.#words.length > 0) this.flush();
    this.#said.push(...parts);
  }

  /** Hands over what was said so far: before a result, and at the end. */
  flush(): void {
    this.#reader.user(this.#words);
    this.#reader.model(this.#said);
    this.#words = [];
    this.#said = [];
  }
}

/** The object behind a value, or an empty one. */
export const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The items behind a value, or none. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The string behind a value, if it is one. */
export const stringOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The id behind a value; some programs count, and some leave it out. */
export const idOf = (value: unknown): string => (typeof value === "number" ? String(value) : (stringOf(value) ?? ""));

/** The finite number behind a value, if it is one. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

const withKind = (mimeType: string, facts: Partial<MediaFacts>): MediaFacts => ({
  ...facts,
  mimeType: mimeType === "" ? (facts.mimeType ?? "application/octet-stream") : mimeType,
  kind: mimeType === "" ? facts.kind! : mediaKindOf(mimeType),
});

const typesByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
};

const defaultTypes: Readonly<Record<Media["kind"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

const guessType = (uri: string, kind: Media["kind"]): string =>
  typesByEnding[/\.([a-z0-9]+)(?:[?#]|$)/i.exec(uri)?.[1]?.toLowerCase() ?? ""] ?? defaultTypes[kind];
