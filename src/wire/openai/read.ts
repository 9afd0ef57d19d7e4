import type { Origin } from "../../conversation/entry.ts";
import { isObject, toPlainJson } from "../../conversation/json.ts";
import type { NewCall, NewPart } from "../../conversation/ledger.ts";
import { mediaKindOf, type MediaFacts } from "../../conversation/media.ts";
import type { Content, Media, Outcome, Seal, UserPart } from "../../conversation/parts.ts";
import { audioTypeOf } from "./encode.ts";
import { arrayOf, idOf, objectOf, RequestReader, stringOf } from "../reader.ts";

/*
 * What both OpenAI families have in common, up to a prefix. The readers accept each other's spelling, since other programs
 * mix them.
 */

/** A request reader that knows which provider uploaded files belong to. */
export class OpenaiReader extends RequestReader {
  readonly #provider: string;

  constructor(origin: Origin) {
    super(origin);
    // Both APIs of one vendor share uploaded files.
    this.#provider = origin.provider.replace(/-chat$/, "");
  }

  /** Creates media for a file uploaded to the provider. */
  uploaded(id: string, facts: Partial<MediaFacts> & { readonly kind: Media["kind"] }): Media {
    return this.mediaFromUri(`${this.#provider}-file:${id}`, facts);
  }

  /** Notes the fields that are not carried over, except nulls. */
  override noteUnreadFields(body: Record<string, unknown>, known: readonly string[], pointer = ""): void {
    super.noteUnreadFields(
      Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
      known,
      pointer,
    );
  }
}

/** Returns the items of a list; a single item becomes a list of one. */
export const toList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Returns the text of a system prompt. */
export const instructionText = (reader: OpenaiReader, content: unknown, at: string): string =>
  contentOf(reader, content, at)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");

/** Reads the content of a user message: one text, or parts. */
export const contentOf = (reader: OpenaiReader, content: unknown, at: string): readonly UserPart[] =>
  toList(content).flatMap((part, index) => userPart(reader, part, Array.isArray(content) ? `${at}/${index}` : at));

const userPart = (reader: OpenaiReader, value: unknown, at: string): readonly UserPart[] => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return [{ type: "text", text: String(value) }];
  const part = objectOf(value);
  reader.noteCacheMarker(part["cache_control"], `${at}/cache_control`);
  reader.noteUnreadFields(
    part,
    isDefault(part) ? [...partFields, "detail", "annotations", "logprobs"] : partFields,
    at,
  );
  const type = part["type"] ?? untyped.find((field) => part[field] !== undefined);
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return [{ type: "text", text: stringOf(part["text"]) ?? "" }];
    case "refusal":
      return [{ type: "text", text: stringOf(part["refusal"]) ?? "" }];
    case "document":
      return [{ type: "text", text: JSON.stringify(part["document"] ?? null) }];
    case "image_url":
    case "input_image":
      return mediaParts(reader, { part, field: "image_url", kind: "image", at });
    case "video_url":
    case "input_video":
      return mediaParts(reader, { part, field: "video_url", kind: "video", at });
    case "audio_url":
      return mediaParts(reader, { part, field: "audio_url", kind: "audio", at });
    case "document_url":
      return mediaParts(reader, { part, field: "document_url", kind: "document", at });
    case "file":
    case "input_file":
      return mediaParts(reader, { part, field: "file", kind: "document", at });
    case "input_audio":
      return audioPart(reader, part, at);
    default:
      reader.noteUnknownPart(`A part of type ${JSON.stringify(type)}`, at);
      return [];
  }
};

/** The fields read of a part, or of its nested object. */
const partFields = [
  "type",
  "text",
  "refusal",
  "document",
  "cache_control",
  "image_url",
  "video_url",
  "audio_url",
  "document_url",
  "document_name",
  "file",
  "filename",
  "file_data",
  "file_url",
  "file_id",
  "input_audio",
  "url",
  "thinking",
  "signature",
];

/** Whether the unread fields of a part have their default values. */
const isDefault = ({ detail, annotations, logprobs }: Record<string, unknown>): boolean =>
  (detail === undefined || detail === "auto") && arrayOf(annotations).length === 0 && arrayOf(logprobs).length === 0;

/** Fields that imply the type of a part without one. */
const untyped = ["text", "image_url", "input_audio", "file", "document_url", "video_url"];

type OpenaiMediaPart = {
  readonly part: Record<string, unknown>;
  /** The field with the URL, as text or as an object. */
  readonly field: string;
  readonly kind: Media["kind"];
  readonly at: string;
};

/** Reads a file by URL or id, flat or nested. */
const mediaParts = (reader: OpenaiReader, { part, field, kind, at }: OpenaiMediaPart): readonly Media[] => {
  const inner = isObject(part[field]) ? part[field] : part;
  if (inner !== part)
    reader.noteUnreadFields(
      inner,
      inner["detail"] === "auto" ? [...partFields, "detail"] : partFields,
      `${at}/${field}`,
    );
  const name = stringOf(inner["filename"]) ?? stringOf(part["document_name"]);
  const facts = name === undefined ? ({ kind } as const) : ({ kind, name } as const);
  const address =
    stringOf(part[field]) ?? stringOf(inner["url"]) ?? stringOf(inner["file_data"]) ?? stringOf(inner["file_url"]);
  if (address !== undefined) return [mediaFromAddress(reader, address, facts)];
  const id = stringOf(inner["file_id"]);
  if (id !== undefined) return [reader.uploaded(id, facts)];
  reader.noteUnknownPart(`A ${kind} without a readable source`, at);
  return [];
};

/** Creates media from a URL. The part's type decides the kind, whatever the extension; but a document that is audio or video is that. */
const mediaFromAddress = (reader: OpenaiReader, address: string, facts: Pick<Media, "kind" | "name">): Media => {
  const mimeType = usualTypes[facts.kind];
  if (isBareBase64(address)) return reader.mediaFromBase64(address, { ...facts, mimeType });
  const found = reader.mediaFromUri(address, facts);
  const kind = mediaKindOf(found.mimeType);
  if (found.source.type === "blob" || kind === facts.kind) return found;
  return facts.kind === "document" && kind !== "image"
    ? reader.mediaFromUri(address, { ...facts, kind })
    : reader.mediaFromUri(address, { ...facts, mimeType });
};

/** Whether a URL field contains plain base64. */
const isBareBase64 = (address: string): boolean => !/^[a-z][a-z0-9+.-]*:/i.test(address) && /^[\w+/=-]+$/.test(address);

const usualTypes: Readonly<Record<Media["kind"], string>> = {
  image: "image/png",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

const audioPart = (reader: OpenaiReader, part: Record<string, unknown>, at: string): readonly Media[] => {
  const inner = objectOf(part["input_audio"]);
  const data = stringOf(part["input_audio"]) ?? stringOf(inner["data"]) ?? stringOf(part["audio_url"]);
  if (data === undefined) {
    reader.noteUnknownPart("A sound without a readable source", at);
    return [];
  }
  const format = stringOf(inner["format"]);
  if (!isBareBase64(data) && data !== "") return [mediaFromAddress(reader, data, { kind: "audio" })];
  return [
    reader.mediaFromBase64(data, {
      kind: "audio",
      mimeType: format === undefined ? sniffAudioType(data) : audioTypeOf(format),
    }),
  ];
};

/** Guesses the type of audio from its first bytes. */
const sniffAudioType = (base64: string): string => {
  if (base64.startsWith("UklGR")) return "audio/wav";
  if (base64.startsWith("T2dnUw")) return "audio/ogg";
  return base64.startsWith("ZkxhQ") ? "audio/flac" : "audio/mpeg";
};

/** Reads images in their own list: URLs, or base64 as in Ollama's own API. */
export const imageParts = (reader: OpenaiReader, images: unknown, at: string): readonly Media[] =>
  arrayOf(images).flatMap((image, index) => {
    const part = typeof image === "string" ? { image_url: image } : objectOf(image);
    return mediaParts(reader, { part, field: "image_url", kind: "image", at: `${at}/${index}` });
  });

/** Reads a tool result as an outcome. There is no flag for failures, so none is guessed. */
export const outcomeOf = (reader: OpenaiReader, content: unknown, at: string): Outcome => {
  const parts: readonly Content[] =
    isObject(content) && content["type"] === undefined
      ? [{ type: "structured", value: toPlainJson(content).value }]
      : contentOf(reader, content, at);
  return { status: "complete", content: parts };
};

/** Reads an assistant message: thinking, then text, then calls. */
export const modelParts = (reader: OpenaiReader, message: Record<string, unknown>, at: string): readonly NewPart[] => {
  const refusal = stringOf(message["refusal"]) ?? "";
  if (isObject(message["audio"])) reader.noteUnknownPart("Spoken words", `${at}/audio`);
  return [
    ...thinkingParts(message),
    ...contentParts(reader, message["content"], `${at}/content`),
    ...imageParts(reader, message["images"], `${at}/images`),
    ...(refusal === "" ? [] : [{ type: "text" as const, text: refusal }]),
    ...toList(message["tool_calls"]).flatMap((call, index) => readCall(reader, call, `${at}/tool_calls/${index}`)),
    ...(isObject(message["function_call"]) ? readCall(reader, message["function_call"], `${at}/function_call`) : []),
  ];
};

const thinkingParts = (message: Record<string, unknown>): readonly NewPart[] => {
  const fields = [stringOf(message["reasoning_content"]), stringOf(message["reasoning"])];
  const text = fields.find((text) => text !== undefined && text !== "") ?? fields.find((text) => text !== undefined);
  if (Array.isArray(message["reasoning_details"])) {
    const details = toPlainJson(message["reasoning_details"]).value as NonNullable<Seal["details"]>;
    return [{ type: "thinking", text: text ?? detailText(details), seal: { details } }];
  }
  return text === undefined ? [] : [{ type: "thinking", text }];
};

const detailText = (details: readonly unknown[]): string =>
  details.map((detail) => stringOf(objectOf(detail)["text"]) ?? stringOf(objectOf(detail)["summary"]) ?? "").join("");

const contentParts = (reader: OpenaiReader, content: unknown, at: string): readonly NewPart[] => {
  if (!Array.isArray(content)) return contentOf(reader, content, at).filter((part) => !isEmpty(part));
  return content.flatMap((part, index): readonly NewPart[] =>
    objectOf(part)["type"] === "thinking"
      ? [thinkingChunk(objectOf(part))]
      : userPart(reader, part, `${at}/${index}`).filter((read) => !isEmpty(read)),
  );
};

const isEmpty = (part: UserPart): boolean => part.type === "text" && part.text === "";

const thinkingChunk = ({ thinking, signature }: Record<string, unknown>): NewPart => {
  const text =
    stringOf(thinking) ??
    arrayOf(thinking)
      .map((chunk) => stringOf(objectOf(chunk)["text"]) ?? "")
      .join("");
  return typeof signature === "string" ? { type: "thinking", text, seal: { signature } } : { type: "thinking", text };
};

const readCall = (reader: OpenaiReader, value: unknown, at: string): readonly NewCall[] => {
  if (!isObject(value)) {
    reader.noteUnknownPart("A call that is no object", at);
    return [];
  }
  const custom = objectOf(value["custom"]);
  if (value["type"] === "custom")
    return [newCall({ tool: custom["name"], input: { input: custom["input"] }, id: value["id"] })];
  const called = isObject(value["function"]) ? value["function"] : value;
  reader.noteUnreadFields(value, ["id", "type", "function", "name", "arguments"], at);
  return [newCall({ tool: called["name"], input: called["arguments"], id: value["id"] })];
};

/** Creates a tool call; JSON text is kept as the model wrote it. */
export const newCall = (call: { tool: unknown; input: unknown; id: unknown; item?: unknown }): NewCall => {
  const id = idOf(call.id);
  const item = stringOf(call.item);
  const seal: Seal = { ...(id === "" ? {} : { id }), ...(item === undefined ? {} : { item }) };
  return {
    type: "call",
    tool: stringOf(call.tool) ?? "",
    input: typeof call.input === "string" ? { text: call.input } : { value: call.input },
    ...(id === "" && item === undefined ? {} : { seal }),
  };
};
