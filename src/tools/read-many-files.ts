import { z } from "zod";
import type { Capabilities } from "./capabilities.ts";
import { filtering, ignoreNotes } from "./filtering.ts";
import { filesWanted, startOf, type Wanted } from "./files-wanted.ts";
import { nameLine } from "./names.ts";
import { demandVisible, mediaFile, mostMedia, usualRange } from "./read-file.ts";
import { sniff, sniffLength } from "./sniff.ts";
import { readLines } from "./text-file.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolContent } from "./tool.ts";

const mostCharacters = 160_000;

/** How many of the files that were left out are named. */
const mostSkipped = 20;

const input = z.object({
  paths: z.array(z.string().min(1)).min(1).describe("Files, folders or glob patterns."),
  include: z.array(z.string().min(1)).optional().describe("Further glob patterns to read."),
  exclude: z.array(z.string().min(1)).optional().describe("Glob patterns to leave out."),
  recursive: z.boolean().optional().describe("Whether folders are read with all below them; true if not given."),
  useDefaultExcludes: z
    .boolean()
    .optional()
    .describe("Leave out dependencies, build output and the like; true if not given."),
  file_filtering_options: filtering,
});

export const readManyFiles: AnyTool = defineTool({
  name: "read_many_files",
  about:
    "Reads many text files at once, each under a line --- path ---. Images, PDFs, audio and video only when named by file or ending.",
  access: "read",
  leavesNoTrace: true,
  input,
  touches: ({ paths, include = [] }) => ({ reads: [...paths, ...include].map(startOf) }),
  title: ({ paths }) => `Read ${paths.join(", ")}`,
  run: async (given, can) => {
    const found = await filesWanted(given, can);
    if (found.files.length === 0) {
      const notes = ignoreNotes(given.file_filtering_options);
      const text = [`No files were found for ${given.paths.join(", ")}.`, ...notes].join(" ");
      return { content: [{ type: "text", text }], display: { type: "text", text } };
    }
    const { content, read, skipped, cut } = await readAll(found.files, can);
    const all = `${found.files.length}${found.cut ? " or more" : ""}`;
    const notes = [
      ...(cut || found.cut ? [`Truncated: ${read} of ${all} files are here. Name fewer to see the others.`] : []),
      ...skipped.slice(0, mostSkipped).map((line) => `Skipped: ${line}`),
      ...ignoreNotes(given.file_filtering_options),
      ...(skipped.length > mostSkipped ? [`Skipped: ${skipped.length - mostSkipped} more.`] : []),
    ];
    const lines = [...found.files.slice(0, 200).map(({ path }) => path), ...notes];
    return {
      content: [...content, { type: "text", text: ["--- End of content ---", ...notes].join("\n") }],
      display: { type: "listing", title: `Read ${read} file(s)`, lines },
    };
  },
});

type Read = {
  readonly content: readonly ToolContent[];
  readonly read: number;
  readonly skipped: readonly string[];
  readonly cut: boolean;
};

const readAll = async (files: readonly Wanted[], can: Capabilities): Promise<Read> => {
  const content: ToolContent[] = [];
  const skipped: string[] = [];
  const room = { characters: mostCharacters, media: mostMedia };
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
      skipped.push(`${nameLine(file.path)}: ${error.message}`);
    }
  }
  return { content, read, skipped, cut: false };
};

type Room = { readonly characters: number; readonly media: number };

const readOne = async (
  { path, isNamed }: Wanted,
  room: Room,
  { files, signal }: Capabilities,
): Promise<readonly ToolContent[]> => {
  const file = await files.open(path);
  try {
    await demandVisible(files, [path, file.place.path]);
    const what = await sniff(await file.read(0, sniffLength), path);
    const heading = `--- ${nameLine(file.place.path)} ---`;
    if (what.kind === "text") {
      const most = Math.min(usualRange.most, room.characters);
      const range = { ...usualRange, most, offset: 0, encoding: what.encoding, signal };
      const { lines, total, cut } = await readLines(file, range);
      const isWhole = total === lines.length && !cut;
      const note = isWhole
        ? ""
        : `[Truncated: the first ${lines.length} lines${cut ? ", long ones cut" : ""}; read_file reads the rest.]\n`;
      return [{ type: "text", text: `${heading}\n\n${note}${lines.join("\n")}\n\n` }];
    }
    if (what.kind === "binary") throw new ToolFailure("read_content_failure", "neither text nor media");
    if (!isNamed) throw new ToolFailure("read_content_failure", `${what.mimeType}, which must be asked for by name`);
    if (file.place.size > room.media && room.media < mostMedia)
      throw new ToolFailure("file_too_large", "no room for more media in one answer");
    return [{ type: "text", text: `${heading}\n` }, await mediaFile(file, what.mimeType)];
  } finally {
    await file.close();
  }
};
