import { type AnthropicBlock, allBlocksOf, blocksOf } from "./body.ts";
import { type Check, asArray, asObject, asString, isBlank, isObject, join, looksBase64 } from "../walk.ts";

/** An image or document, in a message or inside a tool result. */
function* mediaOf(
  body: unknown,
): Generator<AnthropicBlock & { readonly source: Record<string, unknown>; readonly sourceType: string }> {
  for (const block of allBlocksOf(body)) {
    if (block.type !== "image" && block.type !== "document") continue;
    const source = block.value["source"];
    if (isObject(source)) yield { ...block, source, sourceType: asString(source["type"]) ?? "" };
  }
}

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Media has a source of a known kind, with the fields that kind needs. */
export const checkSource: Check = (body, report) => {
  for (const { type, source, sourceType, pointer, path } of mediaOf(body)) {
    const kinds = type === "image" ? ["base64", "url", "file"] : ["base64", "text", "content", "url", "file"];
    const field = { base64: "data", text: "data", url: "url", file: "file_id" }[sourceType];
    const where = join(pointer, "source");
    if (!kinds.includes(sourceType))
      report(
        where,
        `${path}.${type}.source: Input tag '${sourceType}' found using 'type' does not match any of the expected tags: ${kinds.map((kind) => `'${kind}'`).join(", ")}`,
      );
    else if (field !== undefined && typeof source[field] !== "string")
      report(where, `${path}.${type}.source.${sourceType}.${field}: Field required`);
    else if (sourceType === "url" && !/^https?:\/\//i.test(asString(source["url"]) ?? ""))
      report(join(where, "url"), `${path}.${type}.source.url.url: Input should be a valid URL`);
  }
};

/** Claude on other platforms takes bytes only. */
export const checkPlatformSource: Check = (body, report, target) => {
  if (target.provider !== "vertex" && target.provider !== "bedrock") return;
  for (const { type, sourceType, pointer, path } of mediaOf(body)) {
    if (sourceType === "url" || sourceType === "file")
      report(
        join(pointer, "source"),
        `${path}.${type}.source: ${sourceType} sources are not supported on this platform`,
      );
  }
};

/** Images are jpeg, png, gif or webp; documents are PDF or plain text. */
export const checkMediaType: Check = (body, report) => {
  for (const { type, source, sourceType, pointer, path } of mediaOf(body)) {
    if (sourceType !== "base64" && sourceType !== "text") continue;
    const allowed = sourceType === "text" ? ["text/plain"] : type === "image" ? imageTypes : ["application/pdf"];
    if (allowed.includes(asString(source["media_type"]) ?? "")) continue;
    const missing = source["media_type"] === undefined;
    const where = missing ? join(pointer, "source") : join(pointer, "source", "media_type");
    const expected = allowed
      .map((name) => `'${name}'`)
      .join(", ")
      .replace(/, ([^,]*)$/, " or $1");
    report(
      where,
      `${path}.${type}.source.${sourceType}.media_type: ${missing ? "Field required" : `Input should be ${expected}`}`,
    );
  }
};

/** Bytes are base64. */
export const checkBase64: Check = (body, report) => {
  for (const { type, source, sourceType, pointer, path } of mediaOf(body)) {
    const data = sourceType === "base64" ? asString(source["data"]) : undefined;
    if (data === undefined || looksBase64(data)) continue;
    report(
      join(pointer, "source", "data"),
      data === ""
        ? `${path}.${type}.source.base64: ${type} cannot be empty`
        : `${path}.${type}.source.base64.data: Invalid base64 data`,
    );
  }
};

/** A text document has text. */
export const checkEmptyDocument: Check = (body, report) => {
  for (const { source, sourceType, pointer, path } of mediaOf(body)) {
    const text = sourceType === "text" ? asString(source["data"]) : undefined;
    const content = sourceType === "content" ? source["content"] : undefined;
    const empty =
      (text !== undefined && isBlank(text)) || content === "" || (Array.isArray(content) && content.length === 0);
    if (empty) report(join(pointer, "source"), `${path}.document.source: document content cannot be empty`);
  }
};

/** An image is at most ten megabytes of base64. */
export const checkImageSize: Check = (body, report) => {
  for (const { type, source, sourceType, pointer, path } of mediaOf(body)) {
    const size = type === "image" && sourceType === "base64" ? (asString(source["data"])?.length ?? 0) : 0;
    if (size > maxImageBytes)
      report(
        join(pointer, "source", "data"),
        `${path}.image.source.base64: image exceeds 10 MB maximum: ${size} bytes > ${maxImageBytes} bytes`,
      );
  }
};

const maxImageBytes = 10_485_760;

/** A request shows at most 600 images. */
export const checkImageCount: Check = (body, report) => {
  const count = imageCount(body);
  if (count > 600) report("/messages", `messages: Too much media: 0 document pages + ${count} images > 600`);
};

/** Models with a window of 200k tokens take at most 100 images. */
export const checkPortableImageCount: Check = (body, report) => {
  const count = imageCount(body);
  if (count > 100 && count <= 600)
    report(
      "/messages",
      `messages: Too much media: 0 document pages + ${count} images > 100, on models with a 200k context window`,
    );
};

const imageCount = (body: unknown): number => {
  let count = 0;
  for (const { type } of mediaOf(body)) if (type === "image") count += 1;
  return count;
};

/** Media belongs in user messages: version 2026-10-21 refuses documents in assistant messages. */
export const checkAssistantMedia: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.role !== "assistant" || (block.type !== "image" && block.type !== "document")) continue;
    report(
      block.pointer,
      `${block.path}: ${block.type} blocks in assistant messages are refused by API version 2026-10-21`,
    );
  }
};

/** Citations on the user's text: version 2026-10-21 refuses them. */
export const checkUserCitations: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.role !== "user" || block.type !== "text" || asArray(block.value["citations"]).length === 0) continue;
    report(
      join(block.pointer, "citations"),
      `${block.path}.text.citations: citations on user text are refused by API version 2026-10-21`,
    );
  }
};

/** Mixed kinds beside search results in one tool result are not cited. */
export const checkSearchResults: Check = (body, report) => {
  for (const block of allBlocksOf(body)) {
    if (block.type !== "search_result") continue;
    const { source, title, content } = block.value;
    const fits =
      typeof source === "string" &&
      typeof title === "string" &&
      asArray(content).length > 0 &&
      asArray(content).every((inner) => asObject(inner)["type"] === "text");
    if (!fits)
      report(block.pointer, `${block.path}.search_result: source, title and a list of text blocks are required`);
  }
};
