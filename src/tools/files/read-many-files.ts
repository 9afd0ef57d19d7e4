import { boolean, list, object, optional, string } from "../schema.ts";
import type { Capabilities } from "../capabilities.ts";
import { ignoreOptionsSchema, ignoreNotices } from "./ignore-options.ts";
import { selectFiles, pathBeforeWildcard, type SelectedFile } from "./select-files.ts";
import { escapeName } from "./escape-name.ts";
import { requireVisible, readMediaFile, maxMediaBytes, defaultRange } from "./read-file.ts";
import { sniffFile } from "./sniff.ts";
import { readLines } from "./read-lines.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolContent } from "../tool.ts";

const maxCharacters = 160_000;

/** Skipped files that are named. */
const maxSkippedNamed = 20;

const input = object({
  paths: list(string({ minLength: 1 }), { minItems: 1, description: "Files, folders or glob patterns." }),
  include: optional(list(string({ minLength: 1 }), { description: "Additional glob patterns to read." })),
  exclude: optional(list(string({ minLength: 1 }), { description: "Glob patterns to exclude." })),
  recursive: optional(boolean({ description: "Read folders recursively. Default: true." })),
  useDefaultExcludes: optional(
    boolean({ description: "Exclude dependencies, build output and similar files. Default: true." }),
  ),
  file_filtering_options: ignoreOptionsSchema,
});

export const readManyFiles: AnyTool = defineTool({
  name: "read_many_files",
  description:
    "Reads many text files at once, each under a line --- path ---. Images, PDFs, audio and video only when named by file name or extension.",
  access: "read",
  isReadOnly: true,
  input,
  touches: ({ paths, include = [] }) => ({ reads: [...paths, ...include].map(pathBeforeWildcard) }),
  title: ({ paths }) => `Read ${paths.join(", ")}`,
  run: async (args, capabilities) => {
    const found = await selectFiles(args, capabilities);
    if (found.files.length === 0) {
      const notes = ignoreNotices(args.file_filtering_options);
      const text = [`No files were found for ${args.paths.join(", ")}.`, ...notes].join(" ");
      return { content: [{ type: "text", text }], display: { type: "text", text } };
    }
    const { content, read, skipped, cut } = await readAll(found.files, capabilities);
    const all = `${found.files.length}${found.cut ? " or more" : ""}`;
    const notes = [
      ...(cut || found.cut ? [`Truncated: contains ${read} of ${all} files. Request fewer to see the others.`] : []),
      ...skipped.slice(0, maxSkippedNamed).map((line) => `Skipped: ${line}`),
      ...ignoreNotices(args.file_filtering_options),
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

const readAll = async (files: readonly SelectedFile[], capabilities: Capabilities): Promise<ReadFiles> => {
  const content: ToolContent[] = [];
  const skipped: string[] = [];
  const room = { characters: maxCharacters, media: maxMediaBytes };
  let read = 0;
  for (const file of files) {
    capabilities.signal.throwIfAborted();
    if (room.characters <= 0) return { content, read, skipped, cut: true };
    try {
      const parts = await readOne(file, room, capabilities);
      for (const part of parts) {
        if (part.type === "text") room.characters -= part.text.length;
        if (part.type === "file" && "bytes" in part) room.media -= part.bytes.length;
      }
      content.push(...parts);
      read += 1;
    } catch (error) {
      // One failure among many files is skipped and reported; the only requested file is not skipped.
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
  const opened = await files.open(path);
  try {
    await requireVisible(files, [path, opened.place.path]);
    const { contentType, file } = await sniffFile(opened, path);
    const heading = `--- ${escapeName(file.place.path)} ---`;
    if (contentType.kind === "text") {
      const maxCharacters = Math.min(defaultRange.maxCharacters, room.characters);
      const range = { ...defaultRange, maxCharacters, offset: 0, encoding: contentType.encoding, signal };
      const { text, count, total, hasCutLines } = await readLines(file, range);
      const isWhole = total === count && !hasCutLines;
      const note = isWhole
        ? ""
        : `[Truncated: the first ${count} lines${hasCutLines ? ", long ones cut" : ""}; read_file reads the rest.]\n`;
      return [{ type: "text", text: `${heading}\n\n${note}${text}\n\n` }];
    }
    if (contentType.kind === "binary") throw new ToolFailure("read_content_failure", "neither text nor media");
    if (!isNamed)
      throw new ToolFailure("read_content_failure", `${contentType.mimeType}, which must be requested by name`);
    if (file.place.size > room.media && room.media < maxMediaBytes)
      throw new ToolFailure("file_too_large", "the limit for media in one result is reached");
    return [{ type: "text", text: `${heading}\n` }, await readMediaFile(file, contentType.mimeType)];
  } finally {
    await opened.close();
  }
};
