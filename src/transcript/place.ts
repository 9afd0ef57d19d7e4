import type { Blobs } from "../conversation/entry.ts";
import type { CallId, Content, Media, Outcome, Text } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { MediaFile, RenderedResult } from "./step.ts";
import type { MediaCell, MediaRow, MediaRows, RenderPolicy, Target } from "./target.ts";
import { emptyResultTexts, fileText, isBlank, fileReference, mediaStub, fileLabel } from "./words.ts";

/** How many files of each kind there are so far, in the whole request and in the message being made, and how often each file. */
export type MediaCounts = {
  readonly request: KindCounts;
  readonly message: KindCounts;
  readonly files: ReadonlyMap<string, number>;
};

type KindCounts = { readonly [kind in Media["kind"]]: number };

const zeroCounts: KindCounts = { image: 0, document: 0, audio: 0, video: 0 };

const kinds = Object.keys(zeroCounts) as readonly Media["kind"][];

/** The counts of an empty request. */
export const noMediaCounts: MediaCounts = { request: zeroCounts, message: zeroCounts, files: new Map() };

/** A target cannot take a file, and the policy is not to stub it. */
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

/** Where a file was found: in a call's result, or in a message. */
type MediaPlace = { readonly row: MediaRow; readonly call?: CallId; readonly tool?: string };

/** What files are placed by. */
export type MediaPlacerOptions = {
  readonly target: Target;
  readonly policy: RenderPolicy;
  readonly blobs: Blobs;
  /** Files that were fetched, by the address media name. It may go on growing. */
  readonly copies: ReadonlyMap<string, Media>;
  readonly decide: AddNote;
};

/** Puts every file where the target can take it, and remembers how many there are and which must follow the batch. */
export class MediaPlacer {
  counts: MediaCounts = noMediaCounts;
  readonly #options: MediaPlacerOptions;
  #after: MediaFile[] = [];

  constructor(options: MediaPlacerOptions) {
    this.#options = options;
  }

  /** The result of a call in the best form the target can take. */
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
      this.#options.decide("empty-result", `${tool} returned nothing; the result says so.`, call);
    const content = [{ type: "text", text: emptyResultTexts[status] }] as const;
    return synthetic === undefined ? { status, content } : { status, content, synthetic };
  }

  /** What a person said. */
  user(content: readonly (Text | Media)[]): readonly (Text | MediaFile)[] {
    if (content.every(isReadable)) return content as readonly Text[];
    return this.#place(content, { row: this.#options.target.media.user });
  }

  /** A file a model made itself. */
  model(media: Media): readonly (Text | MediaFile)[] {
    return this.#place([media], { row: this.#options.target.media.model });
  }

  /** Begins another message: what a message may hold is counted anew. */
  nextMessage(): void {
    if (this.counts.message !== zeroCounts) this.counts = { ...this.counts, message: zeroCounts };
  }

  /** Whether the files of a user step fit into a message of their own, but not into the one that has begun. */
  overflows(content: readonly (Text | Media)[]): boolean {
    const { user } = this.#options.target.media;
    return kinds.some((kind) => {
      const most = user[kind]?.perMessage ?? Infinity;
      const more = most === Infinity ? 0 : content.filter((part) => part.type === "media" && part.kind === kind).length;
      return more > 0 && more <= most && this.counts.message[kind] + more > most;
    });
  }

  /** The words and files that must stand after the batch: every file is named first. */
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
      else this.#options.decide("blank-text", "A text without words is left out.", place.call);
    }
    return parts;
  }

  /** A file in the place of its address, where that is not taken and the file was fetched. */
  #deliver(media: Media, place: MediaPlace): Text | MediaFile {
    const { target, copies, decide } = this.#options;
    const copy = media.source.type === "uri" ? copies.get(media.source.uri) : undefined;
    if (copy === undefined || acceptsAddress(target.media, media, place.row)) return this.#deliverAsIs(media, place);
    decide(
      "media-fetched",
      `${describeMedia(media)} is sent as bytes: this API does not fetch its address.`,
      place.call,
    );
    return this.#deliverAsIs({ ...media, ...copy, id: media.id, ...nameOf(media) }, place);
  }

  /** The best way a file can go: as text if it is text, where it stands, after the batch, or as words that name it. */
  #deliverAsIs(media: Media, { row, call, tool }: MediaPlace): Text | MediaFile {
    const { target, policy, blobs, decide } = this.#options;
    const base64 = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
    if (media.source.type === "blob" && base64 === undefined) {
      decide("missing-blob", `The bytes of ${describeMedia(media)} are gone.`, call);
      return { type: "text", text: mediaStub(media, "its bytes are no longer stored") };
    }
    const words = base64 === undefined ? undefined : decodeTextFile(media, base64);
    if (words !== undefined) {
      decide("media-as-text", `${describeMedia(media)} is shown as text.`, call);
      return { type: "text", text: fileText(media, words) };
    }
    if (refusalReason(row[media.kind], media, this.counts) === undefined) return this.#show(media, base64, call);
    const why = refusalReason((target.media.after ?? target.media.user)[media.kind], media, this.counts);
    if (why === undefined) {
      this.#after.push(this.#show(media, base64, call));
      decide(
        "media-after",
        `${describeMedia(media)} stands after the batch: this API does not take it in place.`,
        call,
      );
      return { type: "text", text: fileReference(media.id) };
    }
    if (policy.unsupportedMedia === "error") throw new UnsupportedMediaError(target, media, tool);
    decide("media-stub", `${describeMedia(media)} is only named: ${why}.`, call);
    return { type: "text", text: mediaStub(media, why) };
  }

  /** Counts a file in, and gives it the form the target takes it in. */
  #show(media: Media, base64: string | undefined, call: CallId | undefined): MediaFile {
    const { target, decide } = this.#options;
    if (target.neutralNames === true && media.kind === "document" && media.name !== undefined)
      decide("media-renamed", `The document "${media.name.slice(0, 80)}" is called ${media.id} here.`, call);
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

/** Whether an API takes this address in a place with such a row, or after the batch. */
export const acceptsAddress = (rows: MediaRows, media: Media, row: MediaRow): boolean =>
  [row, rows.after ?? rows.user].some((each) => refusalReason(each[media.kind], media, noMediaCounts) === undefined);

const nameOf = ({ name }: Media): { readonly name?: string } => (name === undefined ? {} : { name });

const incrementKind = (counts: KindCounts, kind: Media["kind"]): KindCounts => ({
  ...counts,
  [kind]: counts[kind] + 1,
});

/** Whether a part is something to read: a value, or a text that is not blank. */
const isReadable = (part: Content): boolean =>
  part.type === "structured" || (part.type === "text" && !isBlank(part.text));

/** Why a place does not take a file, or undefined where it does. */
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
    const fetched = cell.uri?.some((scheme) => uri.startsWith(scheme)) ?? false;
    if (!fetched || (cell.uriPattern !== undefined && !cell.uriPattern.test(uri)))
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

/** The words of a text file; undefined for anything else. No API takes SVG as a picture, but every model reads it. */
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
