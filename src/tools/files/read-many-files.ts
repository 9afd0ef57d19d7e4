import { z } from "zod";
import type { Capabilities } from "../capabilities.ts";
import { ignoreOptionsSchema, ignoreNotices } from "./ignore-options.ts";
import { selectFiles, pathBeforeWildcard, type SelectedFile } from "./select-files.ts";
import { escapeName } from "./escape-name.ts";
import { requireVisible, readMediaFile, maxMediaBytes, defaultRange } from "./read-file.ts";
import { sniffContentType, sniffLength } from "./sniff.ts";
import { readLines } from "./read-lines.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolContent } from "../tool.ts";

const maxCharacters = 160_000;

/** How many of the files that were left out are named. */
const maxSkippedNamed = 20;

const input = z.object({
  paths: z.array(z.string().min(1)).min(1).describe("Files, folders or glob patterns."),
  include: z.array(z.string().min(1)).optional().describe("Further glob patterns to read."),
  exclude: z.array(z.string().min(1)).optional().describe("Glob patterns to leave out."),
  recursive: z.boolean().optional().describe("Whether folders are read with all below them; true if not given."),
  useDefaultExcludes: z
    .boolean()
    .optional()
    .describe("Leave out dependencies, build output and the like; true if not given."),
  file_filtering_options: ignoreOptionsSchema,
});

export const readManyFiles: AnyTool = defineTool({
  name: "read_many_files",
  description:
    "Reads many text files at once, each under a line --- path ---. Images, PDFs, audio and video only when named by file or ending.",
  access: "read",
  isReadOnly: true,
  input,
  touches: ({ paths, include = [] }) => ({ reads: [...paths, ...include].map(pathBeforeWildcard) }),
  title: ({ paths }) => `Read ${paths.join(", ")}`,
  run: async (given, can) => {
    const found = await selectFiles(given, can);
    if (found.files.length === 0) {
      const notes = ignoreNotices(given.file_filtering_options);
      const text = [`No files were found for ${given.paths.join(", ")}.`, ...notes].join(" ");
      return { content: [{ type: "text", text }], display: { type: "text", text } };
    }
    const { content, read, skipped, cut } = await readAll(found.files, can);
    const all = `${found.files.length}${found.cut ? " or more" : ""}`;
    const notes = [
      ...(cut || found.cut ? [`Truncated: ${read} of ${all} files are here. Name fewer to see the others.`] : []),
      ...skipped.slice(0, maxSkippedNamed).map((line) => `Skipped: ${line}`),
      ...ignoreNotices(given.file_filtering_options),
      ...(skipped.length > maxSkippedNamed ? [`Skipped: ${skipped.length - maxSkippedNamed} more.`] : []),
    ];
    const lines = [...found.files.slice(0, 200).map(({ path }) => path), ...notes];
    return {
      content: [...content, { type: "text", text: ["--- End of content ---", ...notes].join("\n") }],
      display: { type: "listing", title: `Read ${read} file(s)`, lines },
    };
  },
});

type ReadFiles = {
  readonly content: readonly ToolContent[];
  readonly read: number;
  readonly skipped: readonly string[];
  readonly cut: boolean;
};

const readAll = async (files: readonly SelectedFile[], can: Capabilities): Promise<ReadFiles> => {
  const content: ToolContent[] = [];
  const skipped: string[] = [];
  const room = { characters: maxCharacters, media: maxMediaBytes };
  let read = 0;
  for (const file of files) {
    can.signal.throwIfAborted();
    if (room.characters <= 0) return { content, read, skipped, cut: true };
    try {
      const parts = await readOne(file, room, can);
      for (const part of parts) {
        if (part.type === "text") room.characters -= part.text.length;
        if (part.type === "file" && "bytes" in part) room.media -= part.bytes.length;
      }
      content.push(...parts);
      read += 1;
    } catch (error) {
      // One of many: the others are still wanted. What was asked for alone is not skipped.
      if (files.length === 1 || !(error instanceof ToolFailure)) throw error;
      skipped.push(`${escapeName(file.path)}: ${error.message}`);
    }
  }
  return { content, read, skipped, cut: false };
};

type RemainingSpace = { readonly characters: number; readonly media: number };

const readOne = async (
  { path, isNamed }: SelectedFile,
  room: RemainingSpace,
  { files, signal }: Capabilities,
): Promise<readonly ToolContent[]> => {
  const file = await files.open(path);
  try {
    await requireVisible(files, [path, file.place.path]);
    const what = await sniffContentType(await file.read(0, sniffLength), path);
    const heading = `--- ${escapeName(file.place.path)} ---`;
    if (what.kind === "text") {
      const maxCharacters = Math.min(defaultRange.maxCharacters, room.characters);
      const range = { ...defaultRange, maxCharacters, offset: 0, encoding: what.encoding, signal };
      const { lines, total, hasCutLines: cut } = await readLines(file, range);
      const isWhole = total === lines.length && !cut;
      const note = isWhole
        ? ""
        : `[Truncated: the first ${lines.length} lines${cut ? ", long ones cut" : ""}; read_file reads the rest.]\n`;
      return [{ type: "text", text: `${heading}\n\n${note}${lines.join("\n")}\n\n` }];
    }
    if (what.kind === "binary") throw new ToolFailure("read_content_failure", "neither text nor media");
    if (!isNamed) throw new ToolFailure("read_content_failure", `${what.mimeType}, which must be asked for by name`);
    if (file.place.size > room.media && room.media < maxMediaBytes)
      throw new ToolFailure("file_too_large", "no room for more media in one answer");
    return [{ type: "text", text: `${heading}\n` }, await readMediaFile(file, what.mimeType)];
  } finally {
    await file.close();
  }
};
