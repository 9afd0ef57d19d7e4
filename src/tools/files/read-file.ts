import { integer, object, optional, string, type ValueOf } from "../schema.ts";
import type { Capabilities, WorkspaceFiles, OpenedFile } from "../capabilities.ts";
import { readImageSize } from "./image-size.ts";
import { sniffFile } from "./sniff.ts";
import { readLines, type TextLines } from "./read-lines.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolFile, type ToolResult } from "../tool.ts";

/** The default part of a text that a model gets at once. */
export const defaultRange = { limit: 2000, maxLineLength: 2000, maxCharacters: 150_000 } as const;

/** No provider accepts larger files. */
export const maxMediaBytes: number = 20 * 2 ** 20;

const input = object({
  absolute_path: string({ minLength: 1, description: "Path of the file, absolute or relative to the workspace." }),
  offset: optional(integer({ description: "0-based line number to start from; negative counts from the end." })),
  limit: optional(integer({ minimum: 1, description: "Number of lines to read. Default: 2000." })),
});

export const readFile: AnyTool = defineTool({
  name: "read_file",
  description:
    "Reads a file. Long text is truncated, with a note on how to continue with offset and limit. Images, PDFs, audio and video are returned as media.",
  access: "read",
  isReadOnly: true,
  input,
  aliases: { absolute_path: ["file_path", "path"] },
  normalizeInput: fromLineNumbers,
  touches: ({ absolute_path }) => ({ reads: [absolute_path] }),
  title: ({ absolute_path, offset = 0 }) =>
    `Read ${absolute_path}${offset === 0 ? "" : offset < 0 ? ` from line ${offset}` : ` from line ${offset + 1}`}`,
  run: async (args, capabilities) => {
    const file = await capabilities.files.open(args.absolute_path);
    try {
      await requireVisible(capabilities.files, [args.absolute_path, file.place.path]);
      return await readOpenedFile(file, args, capabilities);
    } finally {
      await file.close();
    }
  },
});

/** Throws for a file that the user excluded from models, by any of its names. */
export const requireVisible = async (
  files: Pick<WorkspaceFiles, "ignored">,
  paths: readonly string[],
): Promise<void> => {
  for (const path of new Set(paths)) {
    const ignoreFile = await files.ignored(path, { git: false, own: true });
    if (ignoreFile !== undefined)
      throw new ToolFailure("policy_violation", `${path} is excluded from models by ${ignoreFile}.`);
  }
};

/** Newer models call this tool with a first and a last line, counted from 1. */
function fromLineNumbers(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { start_line: start, end_line: end, ...rest } = raw;
  if (typeof start !== "number" && typeof end !== "number") return raw;
  const first = typeof start === "number" ? start : 1;
  return {
    offset: Math.max(0, first - 1),
    ...(typeof end === "number" ? { limit: Math.max(1, end - first + 1) } : {}),
    ...rest,
  };
}

const readOpenedFile = async (
  opened: OpenedFile,
  { offset = 0, limit = defaultRange.limit }: ValueOf<typeof input>,
  { signal }: Capabilities,
): Promise<ToolResult> => {
  const { shown } = opened.place;
  const { contentType, file } = await sniffFile(opened, shown);
  switch (contentType.kind) {
    case "media":
      return createMediaResult(await readMediaFile(file, contentType.mimeType));
    case "binary":
      throw new ToolFailure("read_content_failure", `${shown} is neither text nor a supported media type.`);
    case "text": {
      const lines = await readLines(file, { ...defaultRange, offset, limit, encoding: contentType.encoding, signal });
      return createTextResult(lines, shown, offset);
    }
  }
};

/** Reads a file as media for a model. */
export const readMediaFile = async (file: OpenedFile, mimeType: string): Promise<ToolFile> => {
  const { size, shown } = file.place;
  if (size > maxMediaBytes)
    throw new ToolFailure(
      "file_too_large",
      `${shown} has ${(size / 2 ** 20).toFixed(1)} MB; no more than ${maxMediaBytes / 2 ** 20} MB of media can be read.`,
    );
  const bytes = await file.read(0, size);
  const name = shown.split("/").at(-1) ?? shown;
  return { type: "file", mimeType, bytes, name, ...readImageSize(bytes, mimeType) };
};

const createMediaResult = (file: ToolFile): ToolResult => {
  const pixels = file.width === undefined ? "" : `, ${file.width}x${file.height} pixels`;
  return {
    content: [file],
    display: {
      type: "text",
      text: `Read ${file.name ?? "file"} (${file.mimeType}, ${file.bytes.length} bytes${pixels})`,
    },
  };
};

const createTextResult = (lines: TextLines, shown: string, offset: number): ToolResult => {
  const { count, first, total, hasCutLines } = lines;
  const display = { type: "text" as const, text: `Read ${count} line${count === 1 ? "" : "s"} of ${shown}` };
  if (total === 0) return { content: [{ type: "text", text: `(${shown} is empty.)` }], display };
  if (count === 0)
    throw new ToolFailure("invalid_tool_params", `${shown} has ${total} lines; there are none at offset ${offset}.`);
  const text = `${lines.text}${lines.endsWithNewline ? "\n" : ""}`;
  const isWhole = first === 0 && total === count && !hasCutLines;
  return { content: [{ type: "text", text: isWhole ? text : `${truncationNotice(lines)}\n\n${text}` }], display };
};

/** Says what was left out and how to read it. */
const truncationNotice = ({ count, first, total, hasCutLines }: TextLines): string => {
  const next = first + count;
  const isLast = first < 0 ? next === 0 : next === total;
  const more = isLast ? "" : ` To continue, call read_file again with offset: ${next}.`;
  const long = hasCutLines ? ` Lines longer than ${defaultRange.maxLineLength} characters are cut.` : "";
  return `IMPORTANT: The file content has been truncated.\nStatus: ${rangeStatus({ first, next, total })}${more}${long}\n\n--- FILE CONTENT (truncated) ---`;
};

const rangeStatus = ({ first, next, total }: { first: number; next: number; total: number | undefined }): string => {
  if (first >= 0)
    return `Showing lines ${first + 1}-${next} of ${total === undefined ? "a longer file" : `${total} total lines`}.`;
  return next === 0
    ? `Showing the last ${-first} lines.`
    : `Showing the first ${next - first} of the last ${-first} lines.`;
};
