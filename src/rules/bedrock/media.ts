import { type BedrockBlock, blocksOf, fieldOf, blocksIn, resultBlocks, turnsOf } from "./body.ts";
import { type BedrockFamily, type NestedSupport, bedrockFamily } from "./models.ts";
import { messagesOf } from "../turns.ts";
import { type Check, asObject, asString, isObject, join, looksBase64 } from "../walk.ts";

const mediaKinds = ["image", "document", "video", "audio"];

type BedrockBodyMedia = BedrockBlock & { readonly nested: boolean; readonly source: Record<string, unknown> };

/** Every image, document, video and audio of the body, those inside results included. */
function* mediaOf(body: unknown): Generator<BedrockBodyMedia> {
  for (const block of blocksOf(body)) {
    if (mediaKinds.includes(block.kind)) yield { ...block, nested: false, source: asObject(fieldOf(block, "source")) };
    for (const inner of resultBlocks(block)) {
      if (mediaKinds.includes(inner.kind)) yield { ...inner, nested: true, source: asObject(fieldOf(inner, "source")) };
    }
  }
}

/** The media format is in the API's list. A video may also give its MIME type. */
export const checkFormat: Check = (body, report) => {
  for (const block of mediaOf(body)) {
    const format = fieldOf(block, "format");
    if (format === undefined || format === null) continue;
    const known = formats.get(block.kind) ?? [];
    const short = block.kind === "video" && typeof format === "string" ? format.replace(/^video\//, "") : format;
    if (typeof short === "string" && known.includes(short)) continue;
    report(
      join(block.pointer, block.kind, "format"),
      `1 validation error detected: Value '${typeof format === "string" ? format : typeof format}' at '${block.path}.${block.kind}.format' failed to satisfy constraint: Member must satisfy enum value set: [${known.join(", ")}]`,
    );
  }
};

const formats: ReadonlyMap<string, readonly string[]> = new Map([
  ["image", ["png", "jpeg", "gif", "webp"]],
  ["document", ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]],
  ["video", ["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"]],
  [
    "audio",
    ["mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a", "mpeg", "mpga", "pcm", "webm"],
  ],
]);

/** A source has exactly one of: bytes, an S3 location or, for documents, text or content. */
export const checkSource: Check = (body, report) => {
  for (const block of mediaOf(body)) {
    if (!isObject(fieldOf(block, "source"))) continue;
    const kinds = block.kind === "document" ? ["bytes", "s3Location", "text", "content"] : ["bytes", "s3Location"];
    const where = join(block.pointer, block.kind, "source");
    const set = Object.keys(block.source).filter(
      (name) => block.source[name] !== null && block.source[name] !== undefined,
    );
    const uri = asString(asObject(block.source["s3Location"])["uri"]);
    if (set.length !== 1 || !kinds.includes(set[0] ?? ""))
      report(
        where,
        `The source at ${block.path}.${block.kind}.source must set one of the following keys: ${kinds.join(", ")}.`,
      );
    else if (set[0] === "s3Location" && !/^s3:\/\/[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](\/.*)?$/.test(uri ?? ""))
      report(join(where, "s3Location"), `The S3 uri at ${block.path}.${block.kind}.source.s3Location is invalid.`);
  }
};

/** Bytes are non-empty base64. */
export const checkBase64: Check = (body, report) => {
  for (const block of mediaOf(body)) {
    const bytes = block.source["bytes"];
    if (bytes === undefined || bytes === null || (typeof bytes === "string" && looksBase64(bytes))) continue;
    report(
      join(block.pointer, block.kind, "source", "bytes"),
      `The value at ${block.path}.${block.kind}.source.bytes is not valid base64.`,
    );
  }
};

/** Some model families do not support some kinds of blocks. */
export const checkBlockSupport: Check = (body, report, target) => {
  const { refusedBlocks } = bedrockFamily(target);
  for (const block of mediaOf(body)) {
    if (!block.nested && refusedBlocks.includes(block.kind)) report(block.pointer, unsupported(block.kind));
  }
};

const unsupported = (kind: string): string =>
  `This model doesn't support the ${kind} content block that you provided. Update the content block and try again.`;

const nestedRule = ({ nested }: BedrockFamily, block: BedrockBodyMedia): NestedSupport => {
  if (block.kind === "document") return fieldOf(block, "format") === "pdf" ? nested.pdf : nested.document;
  return block.kind === "image" ? nested.image : block.kind === "video" ? nested.video : "refused";
};

/** Each model family accepts its own kinds of media inside a result. */
export const checkNested: Check = (body, report, target) => {
  const family = bedrockFamily(target);
  for (const block of mediaOf(body)) {
    if (block.nested && nestedRule(family, block) === "refused" && !isNestedS3(family, block))
      report(block.pointer, unsupported(block.kind));
  }
};

/** Media untested inside a result is safer beside it. */
export const checkNestedUnsure: Check = (body, report, target) => {
  const family = bedrockFamily(target);
  for (const block of mediaOf(body)) {
    if (block.nested && nestedRule(family, block) === "unsure" && !isNestedS3(family, block))
      report(block.pointer, `It is not known whether this model reads a ${block.kind} inside a tool result.`);
  }
};

/** Claude accepts a PDF alone in a result but does not read it. */
export const checkUnread: Check = (body, report, target) => {
  const family = bedrockFamily(target);
  for (const block of blocksOf(body)) {
    const inner = resultBlocks(block);
    const pdf = inner.find((one) => isUnread(family, one));
    if (pdf !== undefined && inner.every((one) => one.kind === "document"))
      report(
        pdf.pointer,
        "A document alone in a tool result is accepted but never reaches the model: put it beside the results.",
      );
  }
};

const isUnread = (family: BedrockFamily, block: BedrockBlock): boolean =>
  block.kind === "document" && nestedRule(family, { ...block, nested: true, source: {} }) === "unread";

/** A PDF with text beside it in the result is read by some models. */
export const checkHardlyRead: Check = (body, report, target) => {
  const family = bedrockFamily(target);
  for (const block of blocksOf(body)) {
    const inner = resultBlocks(block);
    const pdf = inner.find((one) => isUnread(family, one));
    if (pdf !== undefined && inner.some((one) => one.kind !== "document"))
      report(pdf.pointer, "A document in a tool result may not reach the model: put it beside the results.");
  }
};

/** Nova refuses documents and videos from S3 inside a result. */
export const checkNestedS3: Check = (body, report, target) => {
  const family = bedrockFamily(target);
  for (const block of mediaOf(body)) {
    if (!isNestedS3(family, block)) continue;
    const place = /^messages\.(\d+)\.content\.(\d+)/.exec(block.path);
    report(
      block.pointer,
      `The model returned the following errors: Malformed input request: #/messages/${place?.[1]}/content/${place?.[2]}: extraneous key [toolResult] is not permitted, please reformat your input and try again.`,
    );
  }
};

const isNestedS3 = (family: BedrockFamily, block: BedrockBodyMedia): boolean =>
  family.id === "nova" && block.nested && block.kind !== "image" && isObject(block.source["s3Location"]);

/** Claude accepts bytes, not S3 locations. */
export const checkS3: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const block of mediaOf(body)) {
    if (!isObject(block.source["s3Location"])) continue;
    const where = join(block.pointer, block.kind, "source", "s3Location");
    if (block.kind === "image")
      report(where, "This model doesn't support the s3Uri field. Remove s3Uri and try again.");
    if (block.kind === "document" && !block.nested)
      report(where, `The model returned the following errors: ${block.path}.document.source.type: Field required`);
  }
};

/** A document needs a text block in the same message. */
export const checkDocumentAlone: Check = (body, report) => {
  for (const turn of turnsOf(body)) {
    const document = turn.blocks.find((block) => block.kind === "document");
    if (document === undefined || turn.blocks.some((block) => block.kind === "text")) continue;
    report(
      document.pointer,
      "A text block must be included when using documents. Add a text block and retry your request.",
    );
  }
};

/** A document's name uses the allowed characters. Underscores are undocumented but accepted. */
export const checkDocumentName: Check = (body, report) => {
  for (const block of mediaOf(body)) {
    const name = block.kind === "document" ? asString(fieldOf(block, "name")) : undefined;
    if (name === undefined || (/^[A-Za-z0-9\s\-()[\]_]{1,200}$/.test(name) && !/\s\s/.test(name))) continue;
    report(
      join(block.pointer, "document", "name"),
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character. Check that the file name conforms to these restrictions and retry your request.",
    );
  }
};

/** Document names are unique in a request. */
export const checkDuplicateDocument: Check = (body, report) => {
  const seen = new Set<string>();
  for (const block of mediaOf(body)) {
    const name = block.kind === "document" ? asString(fieldOf(block, "name")) : undefined;
    if (name === undefined) continue;
    if (seen.has(name))
      report(
        join(block.pointer, "document", "name"),
        "Messages can't contain duplicate document names. Rename the document and retry your request.",
      );
    seen.add(name);
  }
};

/** A message has at most twenty images and five documents. */
export const checkCounts: Check = (body, report) => {
  for (const message of messagesOf(body)) {
    const blocks = blocksIn(message).flatMap((block) => [block, ...resultBlocks(block)]);
    for (const [kind, most] of [
      ["image", 20],
      ["document", 5],
    ] as const) {
      const count = blocks.filter((block) => block.kind === kind).length;
      if (count > most)
        report(
          join(message.pointer, "content"),
          `messages.${message.index}.content has ${count} ${kind}s. The maximum is ${most}.`,
        );
    }
  }
};

/** An image is at most 3.75 MB, which is 5 MB of base64; a video sent as bytes at most 25 MB. */
export const checkSize: Check = (body, report) => {
  for (const block of mediaOf(body)) {
    const most = block.kind === "image" ? 5_242_880 : block.kind === "video" ? 26_214_400 : Infinity;
    const size = asString(block.source["bytes"])?.length ?? 0;
    if (size > most)
      report(
        join(block.pointer, block.kind, "source", "bytes"),
        `${block.path}.${block.kind}: ${block.kind} exceeds the maximum size: ${size} bytes > ${most} bytes`,
      );
  }
};
