import type { Origin, ProviderField, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import { importHistory, type ForeignEntry } from "../conversation/import-history.ts";
import { isObject, toPlainJson, type JsonObject } from "../conversation/json.ts";
import type { NewPart } from "../conversation/ledger.ts";
import { mediaKindOf, mediaAt, storeBase64, type MediaFacts } from "../conversation/media.ts";
import { note, type Note } from "../conversation/notes.ts";
import type { Media, Outcome, UserPart } from "../conversation/parts.ts";
import { findFields, lossMessage, type FieldTable } from "./provider-fields.ts";
import type { DecodedRequest, RequestSettings } from "./wire.ts";

/** Collects the content of a request body; shared by the readers of all API families. It never throws, whatever the input. */
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

  /** Stores a file given as base64. */
  mediaFromBase64(base64: string, facts: MediaFacts): Media {
    const { media, blob } = storeBase64(base64, facts);
    this.#blobs[blob.hash] = blob.base64;
    return media;
  }

  /** Creates media from a URL; a `data:` URL is stored like base64. */
  mediaFromUri(uri: string, facts: Partial<MediaFacts> & { readonly kind: Media["kind"] }): Media {
    const inline = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(uri);
    if (inline !== null && inline[2]!.endsWith(";base64"))
      return this.mediaFromBase64(uri.slice(inline[0].length), withKind(inline[1]!, facts));
    return mediaAt(uri, { ...facts, mimeType: facts.mimeType ?? guessType(uri, facts.kind) });
  }

  /** Notes that a conversation cannot hold something in the body. */
  noteUnknownPart(what: string, pointer: string): void {
    this.notes.push(note("unknown-part", `${what} at ${pointer} has no counterpart elsewhere and is left out.`));
  }

  /** Notes that only the text of something is kept. */
  noteShownAsText(what: string, pointer: string): void {
    this.notes.push(note("media-as-text", `The ${what} at ${pointer} is shown as text.`));
  }

  /** Notes the fields of an object that are not carried over. */
  noteUnreadFields(body: JsonObject | Record<string, unknown>, known: readonly string[], pointer = ""): void {
    for (const key of Object.keys(body))
      if (!known.includes(key) && !this.#carried.has(`${pointer}/${key}`))
        this.notes.push(note("unread-field", lossMessage(`${pointer}/${key}`)));
  }

  /** Notes a cache point. A conversation has none: every request sets its own. */
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

  /** Keeps a server tool, which only this API runs, for a request to the same model. `list` is the path of the tool list. */
  carryTool(list: string, tool: Record<string, unknown>, pointer: string): void {
    const what = JSON.stringify(tool["type"] ?? Object.keys(tool)[0] ?? "nothing");
    const loss = `A tool of the kind ${what} at ${pointer} has no counterpart elsewhere and is left out.`;
    this.#fields.push({ at: `${list}/-`, value: toPlainJson(tool).value, kind: "unknown-part", loss });
  }

  /** Keeps one field that only this API knows, for a request to the same model. */
  carryField(field: Omit<ProviderField, "loss">, pointer: string): void {
    this.#fields.push({ ...field, value: toPlainJson(field.value).value, loss: lossMessage(pointer) });
  }

  /** Returns the fields of a declared tool that only this API knows. */
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
    // Server tools are added first: other fields depend on whether there are tools.
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

  /** Returns the cache setting for all markers found; the longest TTL is used, since a shorter one may not come before a longer one. */
  #cache({ cache }: RequestSettings): Pick<RequestSettings, "cache"> {
    if (this.#marks.length === 0) return {};
    const ttl = this.#marks.map((mark) => mark.ttl).find((life) => life === "1h") ?? this.#marks[0]?.ttl;
    const places = this.#marks.map(({ pointer }) => pointer).join(", ");
    this.notes.push(note("setting-adapted", `Cache points are set where the target accepts them, not at ${places}.`));
    return { cache: { ...cache, marks: true, ...(ttl === undefined ? {} : { ttl }) } };
  }
}

/** Reads one message block by block. Results, user parts and model parts keep their order, whatever role the message has. */
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

  /** Emits the parts collected so far: before a result, and at the end. */
  flush(): void {
    this.#reader.user(this.#words);
    this.#reader.model(this.#said);
    this.#words = [];
    this.#said = [];
  }
}

/** Returns the value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Returns the value if it is an array, otherwise an empty one. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the value if it is a string. */
export const stringOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Returns an id as text; some programs use numbers, and some leave it out. */
export const idOf = (value: unknown): string => (typeof value === "number" ? String(value) : (stringOf(value) ?? ""));

/** Returns the value if it is a finite number. */
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
