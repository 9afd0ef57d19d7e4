import { isObject, toPlainJson } from "../../conversation/json.ts";
import { truncateText, maxResultText } from "../../tools/result/truncate.ts";
import type { WorkspaceFiles } from "../../tools/capabilities.ts";
import { readImageSize } from "../../tools/files/image-size.ts";
import { checkMediaType } from "../../tools/result/check-media-type.ts";
import type { ToolContent, ToolResult } from "../../tools/tool.ts";

/** Whose content it is, and where what is too long is kept. */
export type ContentOptions = {
  readonly tool: string;
  readonly files: Pick<WorkspaceFiles, "keep">;
  /** The longest text, in characters. */
  readonly maxText?: number;
};

/** Pieces of one result, at most. */
const maxBlocks = 200;

/** The largest file that is taken. */
const maxFileBytes = 16 * 2 ** 20;

/** What a server answered to a call, in our terms: all of it, in its order, each file in its place. */
export const toToolResult = async (answer: unknown, options: ContentOptions): Promise<ToolResult> => {
  const { content: blocks, structuredContent, isError } = isObject(answer) ? answer : {};
  const content = [
    ...(await toToolContent(Array.isArray(blocks) ? blocks : [], options)),
    ...toStructuredContent(structuredContent, Array.isArray(blocks) ? blocks : []),
  ];
  const told = content.length > 0 ? content : [{ type: "text", text: "(The tool answered with nothing.)" } as const];
  const text = formatDisplay(told);
  return {
    content: told,
    display: { type: "text", text },
    ...(isError === true ? { error: { type: "mcp_tool_error", message: text } } : {}),
  };
};

/** Content blocks of any message of a server. */
export const toToolContent = async (
  blocks: readonly unknown[],
  options: ContentOptions,
): Promise<readonly ToolContent[]> => {
  const taken: ToolContent[] = [];
  let room = maxResultText;
  for (const block of blocks.slice(0, maxBlocks)) {
    const content = await toContentParts(block, { ...options, maxText: Math.max(minText, room) });
    for (const item of content) room -= item.type === "text" ? item.text.length : 0;
    taken.push(...content);
  }
  const left = blocks.length - maxBlocks;
  return left > 0 ? [...taken, textPart(`[${left} more pieces of this result were left out.]`)] : taken;
};

/** What the last of many pieces may still say. */
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
      return [
        textPart(`[Tool '${options.tool}' provided a piece of a kind nobody knows here: ${describeKind(type)}.]`),
      ];
  }
};

const stringOf = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");

const describeKind = (type: unknown): string => (typeof type === "string" ? JSON.stringify(type.slice(0, 60)) : "none");

const truncate = (text: string, { files, tool, maxText: most = maxResultText }: ContentOptions): Promise<string> =>
  truncateText(text, { files, name: tool, most });

/** A resource with what is in it: its text, or its bytes as a file. */
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
  const said = typeof mimeType === "string" && /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(mimeType) ? mimeType : undefined;
  if (typeof data !== "string" || !/^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(data) || data === "")
    return [textPart(`[Tool '${tool}' provided ${what} that cannot be read.]`)];
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > maxFileBytes)
    return [textPart(`[Tool '${tool}' provided ${what} of ${bytes.length} bytes, which is too much.]`)];
  // What the bytes are counts, not what they are said to be: a picture under a wrong name is refused by every API.
  const real = await checkMediaType(
    bytes,
    said ?? (what === "image data" ? "image/png" : "application/octet-stream"),
    uri,
  );
  if (real === undefined)
    return [textPart(`[Tool '${tool}' provided ${what} whose bytes are not ${said ?? "an image"}. It was left out.]`)];
  const name = /([^/?#]{1,100})(?:[?#].*)?$/.exec(uri)?.[1];
  return [
    textPart(`[Tool '${tool}' provided the following ${what} with mime-type: ${real}]`),
    { type: "file", mimeType: real, bytes, ...(name === undefined ? {} : { name }), ...readImageSize(bytes, real) },
  ];
};

/** Structured content, unless a text says the same: servers are asked to send both. */
const toStructuredContent = (value: unknown, blocks: readonly unknown[]): readonly ToolContent[] => {
  if (value === undefined || value === null) return [];
  const plain = toPlainJson(value).value;
  const same = JSON.stringify(plain);
  const only = isObject(plain) && Object.keys(plain).length === 1 ? Object.values(plain)[0] : undefined;
  const isSaid = blocks.some(
    (block) =>
      isObject(block) &&
      typeof block["text"] === "string" &&
      (block["text"] === only || isSameJson(block["text"], same)),
  );
  return isSaid ? [] : [{ type: "structured", value: plain }];
};

const isSameJson = (text: string, json: string): boolean => {
  if (text.length > json.length * 4 + 1000) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
};

/** The same for people: files are named, not shown. */
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
