import type { Blobs } from "../conversation/entry.ts";
import type { CallId, Content, Media, Outcome, Text } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { MediaFile, RenderedResult } from "./step.ts";
import type { MediaCell, MediaRow, MediaRows, RenderPolicy, Target } from "./target.ts";
import { emptyResultTexts, fileText, isBlank, fileReference, mediaStub, fileLabel } from "./words.ts";

/** Media files so far, per kind: in the request and in the current message; and how often each file occurs. */
export type MediaCounts = {
  readonly request: KindCounts;
  readonly message: KindCounts;
  readonly files: ReadonlyMap<string, number>;
};

type KindCounts = { readonly [kind in Media["kind"]]: number };

const zeroCounts: KindCounts = { image: 0, document: 0, audio: 0, video: 0 };

const kinds = Object.keys(zeroCounts) as readonly Media["kind"][];

/** Counts of an empty request. */
export const noMediaCounts: MediaCounts = { request: zeroCounts, message: zeroCounts, files: new Map() };

/** Thrown when a target does not accept a file and the policy does not allow a stub. */
export class UnsupportedMediaError extends Error {
  override readonly name = "UnsupportedMediaError";
  readonly provider: string;
  readonly model: string;
  readonly tool: string | undefined;
  readonly kind: Media["kind"];
  readonly mimeType: string;

  constructor(target: Target, media: Media, tool: string | undefined) {
    const where = tool === undefined ? "a message" : `a result of ${tool}`;
    super(
      `${target.provider}/${target.model} cannot take ${media.kind} (${media.mimeType}) from ${where}. ` +
        `Convert the file first, choose another model, or set unsupportedMedia to "stub".`,
    );
    this.provider = target.provider;
    this.model = target.model;
    this.tool = tool;
    this.kind = media.kind;
    this.mimeType = media.mimeType;
  }
}

/** Where a file occurs: in a tool result (`call`, `tool`) or in a message, with the media that place accepts. */
type MediaPlace = { readonly row: MediaRow; readonly call?: CallId; readonly tool?: string };

/** Options of the pass `place`. */
export type MediaPlacerOptions = {
  readonly target: Target;
  readonly policy: RenderPolicy;
  readonly blobs: Blobs;
  /** Downloaded files by URL. The map may grow later. */
  readonly copies: ReadonlyMap<string, Media>;
  readonly addNote: AddNote;
};

/** The pass `place`: puts every media file where the target accepts it, counts them, and collects those that must follow the batch. */
export class MediaPlacer {
  counts: MediaCounts = noMediaCounts;
  readonly #options: MediaPlacerOptions;
  #after: MediaFile[] = [];

  constructor(options: MediaPlacerOptions) {
    this.#options = options;
  }

  /** Returns the result of a call in the best form the target accepts. */
  result(outcome: Outcome, call: CallId, tool: string): RenderedResult {
    if (outcome.content.length > 0 && outcome.content.every(isReadable)) return outcome as RenderedResult;
    const { media } = this.#options.target;
    const parts = this.#place(outcome.content, {
      row: outcome.status === "complete" ? media.result : media.errorResult,
      call,
      tool,
    });
    const { status, synthetic } = outcome;
    if (parts.length > 0)
      return synthetic === undefined ? { status, content: parts } : { status, content: parts, synthetic };
    if (status === "complete")
      this.#options.addNote("empty-result", `${tool} returned nothing; the result says so.`, call);
    const content = [{ type: "text", text: emptyResultTexts[status] }] as const;
    return synthetic === undefined ? { status, content } : { status, content, synthetic };
  }

  /** Places the parts of a user message. */
  user(content: readonly (Text | Media)[]): readonly (Text | MediaFile)[] {
    if (content.every(isReadable)) return content as readonly Text[];
    return this.#place(content, { row: this.#options.target.media.user });
  }

  /** Places a file a model generated. */
  model(media: Media): readonly (Text | MediaFile)[] {
    return this.#place([media], { row: this.#options.target.media.model });
  }

  /** Starts another message: the limits per message count from zero. */
  nextMessage(): void {
    if (this.counts.message !== zeroCounts) this.counts = { ...this.counts, message: zeroCounts };
  }

  /** Whether the files of a user step fit into a message of their own but not into the current one. */
  overflows(content: readonly (Text | Media)[]): boolean {
    const { user } = this.#options.target.media;
    return kinds.some((kind) => {
      const max = user[kind]?.perMessage ?? Infinity;
      const added = max === Infinity ? 0 : content.filter((part) => part.type === "media" && part.kind === kind).length;
      return added > 0 && added <= max && this.counts.message[kind] + added > max;
    });
  }

  /** Returns and clears the files that must follow the batch, each with a label before it. */
  takeAfter(): readonly (Text | MediaFile)[] {
    if (this.#after.length === 0) return [];
    const files = this.#after;
    this.#after = [];
    return files.flatMap((file): readonly (Text | MediaFile)[] => [{ type: "text", text: fileLabel(file.id) }, file]);
  }

  #place<Part extends Content>(
    content: readonly Part[],
    place: MediaPlace,
  ): readonly (Exclude<Part, Media> | Text | MediaFile)[] {
    const parts: (Exclude<Part, Media> | Text | MediaFile)[] = [];
    for (const part of content) {
      if (part.type === "media") parts.push(this.#deliver(part, place));
      else if (isReadable(part)) parts.push(part as Exclude<Part, Media>);
      else this.#options.addNote("blank-text", "A blank text is left out.", place.call);
    }
    return parts;
  }

  /** Sends the downloaded bytes where the API does not accept the file's URL. */
  #deliver(media: Media, place: MediaPlace): Text | MediaFile {
    const { target, copies, addNote } = this.#options;
    const copy = media.source.type === "uri" ? copies.get(media.source.uri) : undefined;
    if (copy === undefined || acceptsAddress(target.media, media, place.row)) return this.#deliverAsIs(media, place);
    addNote("media-fetched", `${describeMedia(media)} is sent as bytes: this API does not fetch its URL.`, place.call);
    return this.#deliverAsIs({ ...media, ...copy, id: media.id, ...nameOf(media) }, place);
  }

  /** Image fallback, and that of other media: as text if it is text, in place, after the batch, or as a text stub. */
  #deliverAsIs(media: Media, { row, call, tool }: MediaPlace): Text | MediaFile {
    const { target, policy, blobs, addNote } = this.#options;
    const base64 = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
    if (media.source.type === "blob" && base64 === undefined) {
      addNote("missing-blob", `The bytes of ${describeMedia(media)} are missing.`, call);
      return { type: "text", text: mediaStub(media, "its bytes are no longer stored") };
    }
    const text = base64 === undefined ? undefined : decodeTextFile(media, base64);
    if (text !== undefined) {
      addNote("media-as-text", `${describeMedia(media)} is shown as text.`, call);
      return { type: "text", text: fileText(media, text) };
    }
    if (refusalReason(row[media.kind], media, this.counts) === undefined) return this.#show(media, base64, call);
    const reason = refusalReason((target.media.after ?? target.media.user)[media.kind], media, this.counts);
    if (reason === undefined) {
      this.#after.push(this.#show(media, base64, call));
      addNote(
        "media-after",
        `${describeMedia(media)} is placed after the results: this API does not accept it inside.`,
        call,
      );
      return { type: "text", text: fileReference(media.id) };
    }
    if (policy.unsupportedMedia === "error") throw new UnsupportedMediaError(target, media, tool);
    addNote("media-stub", `${describeMedia(media)} is replaced by a description: ${reason}.`, call);
    return { type: "text", text: mediaStub(media, reason) };
  }

  /** Counts a file and converts it to the form wires encode. */
  #show(media: Media, base64: string | undefined, call: CallId | undefined): MediaFile {
    const { target, addNote } = this.#options;
    if (target.neutralNames === true && media.kind === "document" && media.name !== undefined)
      addNote("media-renamed", `The document "${media.name.slice(0, 80)}" is called ${media.id} here.`, call);
    const { request, message, files } = this.counts;
    const copy = (files.get(media.id) ?? 0) + 1;
    this.counts = {
      request: incrementKind(request, media.kind),
      message: incrementKind(message, media.kind),
      files: new Map(files).set(media.id, copy),
    };
    return toFile(media, base64, copy);
  }
}

/** Whether an API accepts this file's URL in a place with such a row, or after the batch. */
export const acceptsAddress = (rows: MediaRows, media: Media, row: MediaRow): boolean =>
  [row, rows.after ?? rows.user].some((each) => refusalReason(each[media.kind], media, noMediaCounts) === undefined);

const nameOf = ({ name }: Media): { readonly name?: string } => (name === undefined ? {} : { name });

const incrementKind = (counts: KindCounts, kind: Media["kind"]): KindCounts => ({
  ...counts,
  [kind]: counts[kind] + 1,
});

/** Whether a part is a JSON value or a text that is not blank. */
const isReadable = (part: Content): boolean =>
  part.type === "structured" || (part.type === "text" && !isBlank(part.text));

/** Why a place does not accept a file; undefined where it does. These reasons are part of stubs in sent prompts: keep them unchanged. */
const refusalReason = (cell: MediaCell | undefined, media: Media, counts: MediaCounts): string | undefined => {
  if (cell === undefined) return `this model does not take ${media.kind} here`;
  if (!cell.types.some((type) => (type.endsWith("/") ? media.mimeType.startsWith(type) : media.mimeType === type)))
    return `this model does not take ${media.mimeType}`;
  if (media.source.type === "blob") {
    if (media.source.bytes === 0) return "it is empty";
    if (cell.data === false) return "this API takes such files only by address";
    if (cell.maxBytes !== undefined && media.source.bytes > cell.maxBytes)
      return `it is larger than the ${cell.maxBytes} bytes allowed`;
  } else {
    const { uri } = media.source;
    const isFetchable = cell.uri?.some((scheme) => uri.startsWith(scheme)) ?? false;
    if (!isFetchable || (cell.uriPattern !== undefined && !cell.uriPattern.test(uri)))
      return "this API does not fetch from that address";
  }
  if (cell.perRequest !== undefined && counts.request[media.kind] >= cell.perRequest)
    return `a request may hold ${cell.perRequest} of them and does already`;
  if (cell.perMessage !== undefined && counts.message[media.kind] >= cell.perMessage)
    return `a message may hold ${cell.perMessage} of them and does already`;
  return undefined;
};

const toFile = (media: Media, base64: string | undefined, copy: number): MediaFile => ({
  type: "file",
  kind: media.kind,
  mimeType: media.mimeType,
  id: media.id,
  ...(media.name === undefined ? {} : { name: media.name }),
  ...(copy === 1 ? {} : { copy }),
  source: media.source.type === "uri" ? media.source : { type: "data", base64: base64 ?? "" },
});

const textTypes =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|x-ndjson|javascript|typescript|x-sh)|.+\+(json|xml))$/;

/** Decodes a text file; undefined for anything else. No API accepts SVG as an image, but every model reads it as text. */
const decodeTextFile = (media: Media, base64: string): string | undefined => {
  if (!textTypes.test(media.mimeType.split(";", 1)[0]!)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const describeMedia = (media: Media): string => `${media.kind} ${media.id} (${media.mimeType})`;
