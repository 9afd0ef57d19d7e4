import { isObject, toPlainJson } from "../../conversation/json.ts";
import { truncateText, maxResultText } from "../../tools/result/truncate.ts";
import type { WorkspaceFiles } from "../../tools/capabilities.ts";
import { readImageSize } from "../../tools/files/image-size.ts";
import { checkMediaType } from "../../tools/result/check-media-type.ts";
import type { ToolContent, ToolResult } from "../../tools/tool.ts";

/** The tool that returned the content, and where long text is stored. */
export type ContentOptions = {
  readonly tool: string;
  readonly files: Pick<WorkspaceFiles, "keep">;
  /** Maximum characters of text. */
  readonly maxText?: number;
};

/** Maximum content blocks of one result. */
const maxBlocks = 200;

/** Maximum bytes of one file. */
const maxFileBytes = 16 * 2 ** 20;

/** Converts a server's response to a tool result: all content in order, files in their place. */
export const toToolResult = async (answer: unknown, options: ContentOptions): Promise<ToolResult> => {
  const { content: blocks, structuredContent, isError } = isObject(answer) ? answer : {};
  const content = [
    ...(await toToolContent(Array.isArray(blocks) ? blocks : [], options)),
    ...toStructuredContent(structuredContent, Array.isArray(blocks) ? blocks : []),
  ];
  const params = content.length > 0 ? content : [{ type: "text", text: "(The tool returned no content.)" } as const];
  const text = formatDisplay(params);
  return {
    content: params,
    display: { type: "text", text },
    ...(isError === true ? { error: { type: "mcp_tool_error", message: text } } : {}),
  };
};

/** Converts the content blocks of any message of a server. */
export const toToolContent = async (
  blocks: readonly unknown[],
  options: ContentOptions,
): Promise<readonly ToolContent[]> => {
  const parts: ToolContent[] = [];
  let room = maxResultText;
  for (const block of blocks.slice(0, maxBlocks)) {
    const content = await toContentParts(block, { ...options, maxText: Math.max(minText, room) });
    for (const item of content) room -= item.type === "text" ? item.text.length : 0;
    parts.push(...content);
  }
  const omitted = blocks.length - maxBlocks;
  return omitted > 0 ? [...parts, textPart(`[${omitted} more content blocks of this result were left out.]`)] : parts;
};

/** Characters that the last of many blocks may still have. */
const minText = 300;

const textPart = (text: string): ToolContent => ({ type: "text", text });

const toContentParts = async (block: unknown, options: ContentOptions): Promise<readonly ToolContent[]> => {
  const { type, text, data, mimeType, resource, uri, title, name } = isObject(block) ? block : {};
  switch (type) {
    case "text":
      return [textPart(await truncate(stringOf(text), options))];
    case "image":
    case "audio":
      return toFileContent({ data, mimeType, what: `${type} data` }, options);
    case "resource":
      return toResourceContent(resource, options);
    case "resource_link":
      return [textPart(`Resource Link: ${stringOf(title) || stringOf(name)} at ${stringOf(uri)}`)];
    default:
      return [textPart(`[Tool '${options.tool}' provided content of an unknown type: ${describeKind(type)}.]`)];
  }
};

const stringOf = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");

const describeKind = (type: unknown): string => (typeof type === "string" ? JSON.stringify(type.slice(0, 60)) : "none");

const truncate = (text: string, { files, tool, maxText = maxResultText }: ContentOptions): Promise<string> =>
  truncateText(text, { files, name: tool, most: maxText });

/** Converts a resource: its text, or its bytes as a file. */
export const toResourceContent = async (
  resource: unknown,
  options: ContentOptions,
): Promise<readonly ToolContent[]> => {
  const { text, blob, mimeType, uri } = isObject(resource) ? resource : {};
  if (typeof text === "string") return [textPart(await truncate(text.toWellFormed(), options))];
  return toFileContent({ data: blob, mimeType, what: "embedded resource", uri: stringOf(uri) }, options);
};

type EncodedFile = { readonly data: unknown; readonly mimeType: unknown; readonly what: string; readonly uri?: string };

const toFileContent = async (
  { data, mimeType, what, uri = "" }: EncodedFile,
  { tool }: ContentOptions,
): Promise<readonly ToolContent[]> => {
  const claimedType =
    typeof mimeType === "string" && /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(mimeType) ? mimeType : undefined;
  if (typeof data !== "string" || !/^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(data) || data === "")
    return [textPart(`[Tool '${tool}' provided ${what} that cannot be read.]`)];
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > maxFileBytes)
    return [textPart(`[Tool '${tool}' provided ${what} of ${bytes.length} bytes, which is too large.]`)];
  // The bytes decide, not the claimed type: every API rejects an image with a wrong type.
  const mediaType = await checkMediaType(
    bytes,
    claimedType ?? (what === "image data" ? "image/png" : "application/octet-stream"),
    uri,
  );
  if (mediaType === undefined)
    return [
      textPart(`[Tool '${tool}' provided ${what} whose bytes are not ${claimedType ?? "an image"}. It was left out.]`),
    ];
  const name = /([^/?#]{1,100})(?:[?#].*)?$/.exec(uri)?.[1];
  return [
    textPart(`[Tool '${tool}' provided the following ${what} with mime-type: ${mediaType}]`),
    {
      type: "file",
      mimeType: mediaType,
      bytes,
      ...(name === undefined ? {} : { name }),
      ...readImageSize(bytes, mediaType),
    },
  ];
};

/** Structured content, unless a text block says the same: servers should send both. */
const toStructuredContent = (value: unknown, blocks: readonly unknown[]): readonly ToolContent[] => {
  if (value === undefined || value === null) return [];
  const plain = toPlainJson(value).value;
  const json = JSON.stringify(plain);
  const only = isObject(plain) && Object.keys(plain).length === 1 ? Object.values(plain)[0] : undefined;
  const isRepeated = blocks.some(
    (block) =>
      isObject(block) &&
      typeof block["text"] === "string" &&
      (block["text"] === only || isSameJson(block["text"], json)),
  );
  return isRepeated ? [] : [{ type: "structured", value: plain }];
};

const isSameJson = (text: string, json: string): boolean => {
  if (text.length > json.length * 4 + 1000) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
};

/** The display of the content, without files. */
export const formatDisplay = (content: readonly ToolContent[]): string =>
  content
    .flatMap((item) => {
      switch (item.type) {
        case "text":
          return [item.text];
        case "structured":
          return [JSON.stringify(item.value, undefined, 2)];
        case "file":
          return [];
      }
    })
    .join("\n");
