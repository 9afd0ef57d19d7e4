import { z } from "zod";
import type { Capabilities, WorkspaceFiles, OpenedFile } from "../capabilities.ts";
import { readImageSize } from "./image-size.ts";
import { sniffContentType, sniffLength } from "./sniff.ts";
import { readLines, type TextLines } from "./read-lines.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolFile, type ToolResult } from "../tool.ts";

/** What a model is given of a text at once. */
export const defaultRange = { limit: 2000, maxLineLength: 2000, maxCharacters: 150_000 } as const;

/** No provider takes larger files. */
export const maxMediaBytes: number = 20 * 2 ** 20;

const input = z.object({
  absolute_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  offset: z.int().optional().describe("First line to read, counted from 0; a negative one counts from the end."),
  limit: z.int().min(1).optional().describe("How many lines to read; 2000 if not given."),
});

export const readFile: AnyTool = defineTool({
  name: "read_file",
  description:
    "Reads a file. A long text comes in part, with word on how to read on by offset and limit. Images, PDFs, audio and video come as media.",
  access: "read",
  isReadOnly: true,
  input,
  aliases: { absolute_path: ["file_path", "path"] },
  normalizeInput: fromLineNumbers,
  touches: ({ absolute_path }) => ({ reads: [absolute_path] }),
  title: ({ absolute_path, offset = 0 }) =>
    `Read ${absolute_path}${offset === 0 ? "" : offset < 0 ? ` from line ${offset}` : ` from line ${offset + 1}`}`,
  run: async (given, can) => {
    const file = await can.files.open(given.absolute_path);
    try {
      await requireVisible(can.files, [given.absolute_path, file.place.path]);
      return await readOpenedFile(file, given, can);
    } finally {
      await file.close();
    }
  },
});

/** What the person keeps from models is not read, by whatever name. */
export const requireVisible = async (
  files: Pick<WorkspaceFiles, "ignored">,
  paths: readonly string[],
): Promise<void> => {
  for (const path of new Set(paths)) {
    const kept = await files.ignored(path, { git: false, own: true });
    if (kept !== undefined) throw new ToolFailure("policy_violation", `${path} is kept from models by ${kept}.`);
  }
};

/** Newer models know this tool with a first and a last line, counted from 1. */
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
  file: OpenedFile,
  { offset = 0, limit = defaultRange.limit }: z.infer<typeof input>,
  { signal }: Capabilities,
): Promise<ToolResult> => {
  const { shown } = file.place;
  const what = await sniffContentType(await file.read(0, sniffLength), shown);
  switch (what.kind) {
    case "media":
      return createMediaResult(await readMediaFile(file, what.mimeType));
    case "binary":
      throw new ToolFailure("read_content_failure", `${shown} is neither text nor a kind of media a model can take.`);
    case "text": {
      const lines = await readLines(file, { ...defaultRange, offset, limit, encoding: what.encoding, signal });
      return createTextResult(lines, shown, offset);
    }
  }
};

/** A file as media for a model. */
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
  const { first, total, hasCutLines: cut } = lines;
  const count = lines.lines.length;
  const display = { type: "text" as const, text: `Read ${count} line${count === 1 ? "" : "s"} of ${shown}` };
  if (total === 0) return { content: [{ type: "text", text: `(${shown} is empty.)` }], display };
  if (count === 0)
    throw new ToolFailure("invalid_tool_params", `${shown} has ${total} lines; there is nothing at offset ${offset}.`);
  const text = `${lines.lines.join("\n")}${lines.endsWithNewline ? "\n" : ""}`;
  const isWhole = first === 0 && total === count && !cut;
  return { content: [{ type: "text", text: isWhole ? text : `${truncationNotice(lines)}\n\n${text}` }], display };
};

/** Says what was left out and how to get it. */
const truncationNotice = ({ lines, first, total, hasCutLines: cut }: TextLines): string => {
  const next = first + lines.length;
  const isLast = first < 0 ? next === 0 : next === total;
  const more = isLast ? "" : ` To read on, call read_file again with offset: ${next}.`;
  const long = cut ? ` Lines longer than ${defaultRange.maxLineLength} characters are cut.` : "";
  return `IMPORTANT: The file content has been truncated.\nStatus: ${rangeStatus({ first, next, total })}${more}${long}\n\n--- FILE CONTENT (truncated) ---`;
};

const rangeStatus = ({ first, next, total }: { first: number; next: number; total: number | undefined }): string => {
  if (first >= 0)
    return `Showing lines ${first + 1}-${next} of ${total === undefined ? "a longer file" : `${total} total lines`}.`;
  return next === 0
    ? `Showing the last ${-first} lines.`
    : `Showing the first ${next - first} of the last ${-first} lines.`;
};
