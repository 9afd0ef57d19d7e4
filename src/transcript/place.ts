import {
  note,
  type Blobs,
  type CallId,
  type Content,
  type Media,
  type Note,
  type Outcome,
  type Text,
} from "../conversation/index.ts";
import type { File, Result } from "./step.ts";
import type { MediaCell, MediaRow, Policy, Target } from "./target.ts";
import { endedWord, fileText, isBlank, seeFile, stub, thisIsFile } from "./words.ts";

/** How many files of each kind there are so far, in the whole request and in the message being made. */
export type Counts = { readonly request: KindCounts; readonly message: KindCounts };

type KindCounts = { readonly [kind in Media["kind"]]: number };

/** What media is placed by. */
export type Placing = {
  readonly target: Target;
  readonly policy: Policy;
  readonly blobs: Blobs;
  readonly counts: Counts;
  readonly note: (note: Note) => void;
};

/** Placed content, and the files that must follow the whole batch. */
export type Placed<Part> = {
  readonly parts: readonly Part[];
  readonly after: readonly File[];
  readonly counts: Counts;
};

const none: KindCounts = { image: 0, document: 0, audio: 0, video: 0 };

/** The counts of an empty request. */
export const noMedia: Counts = { request: none, message: none };

/** The counts at the start of another message. */
export const nextMessage = (counts: Counts): Counts =>
  counts.message === none ? counts : { request: counts.request, message: none };

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

/** The result of a call in the best form the target can take. */
export const placeResult = (
  outcome: Outcome,
  call: CallId,
  tool: string,
  placing: Placing,
): { result: Result; placed: Placed<never> } => {
  const { media } = placing.target;
  const { parts, after, counts } = place(outcome.content, {
    row: outcome.status === "complete" ? media.result : media.errorResult,
    where: { call, tool },
    placing,
  });
  if (parts.length === 0) {
    if (outcome.status === "complete")
      placing.note(note("empty-result", `${tool} returned nothing; the result says so.`, call));
    return {
      result: { status: outcome.status, content: [{ type: "text", text: endedWord[outcome.status] }] },
      placed: { parts: [], after, counts },
    };
  }
  return { result: { status: outcome.status, content: parts }, placed: { parts: [], after, counts } };
};

/** What a person said, with every file where the target can take it. */
export const placeUser = (content: readonly (Text | Media)[], placing: Placing): Placed<Text | File> =>
  place(content, { row: placing.target.media.user, where: undefined, placing });

/** A file a model made itself. */
export const placeModel = (content: readonly Media[], placing: Placing): Placed<Text | File> =>
  place(content, { row: placing.target.media.model, where: undefined, placing });

/** The words and files that follow a batch: every file is named before it is shown. */
export const filesAfter = (files: readonly File[]): readonly (Text | File)[] =>
  files.flatMap((file): readonly (Text | File)[] => [{ type: "text", text: thisIsFile(file.id) }, file]);

type Place = {
  readonly row: MediaRow;
  readonly where: { readonly call: CallId; readonly tool: string } | undefined;
  readonly placing: Placing;
};

const place = <Part extends Content>(
  content: readonly Part[],
  { row, where, placing }: Place,
): Placed<Exclude<Part, Media> | Text | File> => {
  if (content.every(isPlainWord))
    return { parts: content as readonly Exclude<Part, Media>[], after: [], counts: placing.counts };
  let { counts } = placing;
  const parts: (Exclude<Part, Media> | Text | File)[] = [];
  const after: File[] = [];
  const count = (media: Media): void => {
    counts = { request: oneMore(counts.request, media.kind), message: oneMore(counts.message, media.kind) };
  };
  for (const part of content) {
    if (part.type !== "media") {
      if (part.type === "text" && isBlank(part.text))
        placing.note(note("blank-text", "A text without words is left out.", where?.call));
      else parts.push(part as Exclude<Part, Media>);
      continue;
    }
    const delivery = deliver(part, { row, where, placing: { ...placing, counts } });
    if (delivery.type === "text") parts.push({ type: "text", text: delivery.text });
    else {
      count(part);
      if (delivery.type === "inside") parts.push(delivery.file);
      else {
        parts.push({ type: "text", text: seeFile(part.id) });
        after.push(delivery.file);
        placing.note(
          note(
            "media-after",
            `${describe(part)} stands after the batch: this API does not take it in place.`,
            where?.call,
          ),
        );
      }
    }
  }
  return { parts, after, counts };
};

const oneMore = (counts: KindCounts, kind: Media["kind"]): KindCounts => ({ ...counts, [kind]: counts[kind] + 1 });

const isPlainWord = (part: Content): boolean =>
  part.type === "structured" || (part.type === "text" && !isBlank(part.text));

type Delivery =
  | { readonly type: "inside" | "after"; readonly file: File }
  | { readonly type: "text"; readonly text: string };

/** The best way a file can go: as text if it is text, where it stands, after the batch, or as words that name it. */
const deliver = (media: Media, { row, where, placing }: Place): Delivery => {
  const { target, policy, blobs, counts } = placing;
  const base64 = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
  if (media.source.type === "blob" && base64 === undefined) {
    placing.note(note("missing-blob", `The bytes of ${describe(media)} are gone.`, where?.call));
    return { type: "text", text: stub(media, "its bytes are no longer stored") };
  }
  const words = base64 === undefined ? undefined : textOf(media, base64);
  if (words !== undefined) {
    placing.note(note("media-as-text", `${describe(media)} is shown as text.`, where?.call));
    return { type: "text", text: fileText(media, words) };
  }
  const refusals = [
    refusal(row[media.kind], media, counts),
    refusal((target.media.after ?? target.media.user)[media.kind], media, counts),
  ];
  const file = toFile(media, base64);
  if (refusals[0] === undefined) return { type: "inside", file };
  if (refusals[1] === undefined) return { type: "after", file };
  if (policy.unsupportedMedia === "error") throw new UnsupportedMediaError(target, media, where?.tool);
  placing.note(note("media-stub", `${describe(media)} is only named: ${refusals[1]}.`, where?.call));
  return { type: "text", text: stub(media, refusals[1]) };
};

/** Why a place does not take a file, or undefined where it does. */
const refusal = (cell: MediaCell | undefined, media: Media, counts: Counts): string | undefined => {
  if (cell === undefined) return `this model does not take ${media.kind} here`;
  if (!cell.types.some((type) => (type.endsWith("/") ? media.mimeType.startsWith(type) : media.mimeType === type)))
    return `this model does not take ${media.mimeType}`;
  if (media.source.type === "blob") {
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

const toFile = (media: Media, base64: string | undefined): File => ({
  type: "file",
  kind: media.kind,
  mimeType: media.mimeType,
  id: media.id,
  ...(media.name === undefined ? {} : { name: media.name }),
  source: media.source.type === "uri" ? media.source : { type: "data", base64: base64 ?? "" },
});

const textTypes =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|x-ndjson|javascript|typescript|x-sh)|.+\+(json|xml))$/;

/** The words of a text file; undefined for anything else. No API takes SVG as a picture, but every model reads it. */
const textOf = (media: Media, base64: string): string | undefined => {
  if (!textTypes.test(media.mimeType.split(";", 1)[0]!)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const describe = (media: Media): string => `${media.kind} ${media.id} (${media.mimeType})`;
