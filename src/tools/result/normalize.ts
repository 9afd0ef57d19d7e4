import { isObject, toPlainJson, type JsonValue } from "../../conversation/json.ts";
import { storeBytes } from "../../conversation/media.ts";
import { toFile, isBinary, readBinary, type BinaryData } from "./normalize-file.ts";
import type { ToolDisplay, ToolContent, ToolFile, ToolResult } from "../tool.ts";

/**
 * Converts any return value of a tool to a result: a text, a value, a file, bytes, a list of these, or a whole
 * `ToolResult` with or without a display. Throws an `Error` that was returned.
 */
export const normalizeResult = async (returned: unknown): Promise<ToolResult> => {
  if (returned instanceof Error) throw returned;
  const { content: value, display, error } = isResult(returned) ? returned : { content: returned };
  const isList = Array.isArray(value) && (value !== returned || (await hasContent(value)));
  const content = isList ? await listContent(value) : await itemContent(value);
  const failure = isToolError(error) ? error : undefined;
  const text = content.length === 0 && failure !== undefined ? failure.message : describeContent(content);
  return {
    content,
    display: readDisplay(display) ?? { type: "text", text },
    ...(failure === undefined ? {} : { error: failure }),
  };
};

type LooseResult = { readonly content?: unknown; readonly display?: unknown; readonly error?: unknown };

/** An object with other keys, or with only a `content` that is not a list, is a value the tool computed. */
const isResult = (value: unknown): value is LooseResult => {
  if (!isObject(value) || !("content" in value)) return false;
  const isKnown = Object.keys(value).every((key) => key === "content" || key === "display" || key === "error");
  return isKnown && (Array.isArray(value["content"]) || readDisplay(value["display"]) !== undefined);
};

const isToolError = (error: unknown): error is NonNullable<ToolResult["error"]> =>
  isObject(error) && typeof error["type"] === "string" && typeof error["message"] === "string";

const readDisplay = (display: unknown): ToolDisplay | undefined => {
  if (typeof display === "string") return { type: "text", text: display };
  if (!isObject(display)) return undefined;
  const { type } = display;
  const isWhole =
    (type === "text" && typeof display["text"] === "string") ||
    (type === "listing" && typeof display["title"] === "string" && Array.isArray(display["lines"])) ||
    (type === "diff" && typeof display["path"] === "string" && typeof display["patch"] === "string");
  return isWhole ? (display as ToolDisplay) : undefined;
};

/** Whether a list is content in order: it contains a file or a content part. Any other list is one value. */
const hasContent = async (list: readonly unknown[]): Promise<boolean> =>
  (await Promise.all(list.map(async (item) => isContentPart(item) || (await toFile(item)) !== undefined))).includes(
    true,
  );

const listContent = async (list: readonly unknown[]): Promise<readonly ToolContent[]> =>
  (await Promise.all(list.map(itemContent))).flat();

const itemContent = async (value: unknown): Promise<readonly ToolContent[]> => {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (isContentPart(value))
    return value.type === "text" ? [{ type: "text", text: value.text }] : valueContent(value.value);
  const file = await toFile(value);
  return file === undefined ? valueContent(value) : [file];
};

type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "structured"; readonly value: unknown };

const isContentPart = (value: unknown): value is ContentPart =>
  isObject(value) &&
  ((value["type"] === "text" && typeof value["text"] === "string") ||
    (value["type"] === "structured" && "value" in value));

/** A value in which all bytes are replaced by references, followed by the bytes as files. */
const valueContent = async (value: unknown): Promise<readonly ToolContent[]> => {
  const files = new Map<object, ToolFile>();
  for (const { node, mimeType } of findBinaries(value)) files.set(node, await readBinary(node, mimeType));
  const replace = (node: object): JsonValue | undefined => {
    const file = files.get(node);
    return file === undefined ? undefined : `See file ${storeBytes(file.bytes, file).media.id}`;
  };
  return [{ type: "structured", value: toPlainJson(value, replace).value }, ...files.values()];
};

type FoundBinary = { readonly node: BinaryData; readonly mimeType: string | undefined };

/** Finds bytes anywhere inside a value, each once, with the media type beside them. */
const findBinaries = (value: unknown): readonly FoundBinary[] => {
  const found: FoundBinary[] = [];
  const seen = new Set<unknown>();
  const walk = (node: unknown, beside?: Readonly<Record<string, unknown>>): void => {
    if (typeof node !== "object" || node === null || seen.has(node)) return;
    seen.add(node);
    if (isBinary(node)) {
      const type = beside?.["mimeType"] ?? beside?.["mime_type"] ?? beside?.["mediaType"] ?? beside?.["contentType"];
      found.push({ node, mimeType: typeof type === "string" ? type : undefined });
      return;
    }
    if (ArrayBuffer.isView(node)) return;
    const items = node instanceof Map || node instanceof Set ? [...node.values()] : Object.values(node);
    for (const item of items) walk(item, isObject(node) ? node : undefined);
  };
  walk(value);
  return found;
};

/** The display of content for a tool without a display of its own. */
const describeContent = (content: readonly ToolContent[]): string =>
  content.length === 0 ? "(no output)" : content.map(describePart).join("\n");

const describePart = (piece: ToolContent): string => {
  switch (piece.type) {
    case "text":
      return piece.text;
    case "structured":
      return typeof piece.value === "string" ? piece.value : JSON.stringify(piece.value, undefined, 2);
    case "file": {
      const size = "bytes" in piece ? `${piece.bytes.length} bytes` : piece.url;
      return `[${piece.name ?? "file"}: ${piece.mimeType}, ${size}]`;
    }
  }
};
