import { list, object, optional, string } from "../schema.ts";
import { truncateText } from "../result/truncate.ts";
import type { WorkspaceFiles, IgnoreFilter, DirectoryEntry } from "../capabilities.ts";
import { ignoreOptionsSchema, ignoreNotices, toIgnoreFilter } from "./ignore-options.ts";
import { escapeName } from "./escape-name.ts";
import { createGlobMatcher } from "../search/glob-pattern.ts";
import { defineTool, ToolFailure, type AnyTool } from "../tool.ts";

/** A model cannot use more names than this. */
const maxEntries = 10_000;

const input = object({
  path: string({ minLength: 1, description: "Path of the directory, absolute or relative to the workspace." }),
  ignore: optional(list(string(), { description: "Glob patterns of names to exclude." })),
  file_filtering_options: ignoreOptionsSchema,
});

export const listDirectory: AnyTool = defineTool({
  name: "list_directory",
  description: "Lists the files and directories in a directory, directories first.",
  access: "read",
  isReadOnly: true,
  input,
  aliases: { path: ["dir_path"] },
  touches: ({ path }) => ({ reads: [path] }),
  title: ({ path }) => `List ${path}`,
  run: async ({ path, ignore = [], file_filtering_options }, { files }) => {
    const resolved = await files.resolve(path);
    if (resolved.kind === "absent") throw new ToolFailure("file_not_found", `Folder not found: ${path}.`);
    if (resolved.kind !== "folder") throw new ToolFailure("path_is_not_a_directory", `${path} is not a folder.`);
    const unwanted = ignore.map((pattern) => createGlobMatcher(pattern));
    const isIgnored = await createIgnoreCheck(files, resolved.path, toIgnoreFilter(file_filtering_options));
    const all = await files.list(resolved.path, maxEntries + 1);
    const seen = all.slice(0, maxEntries);
    const left = seen.filter((entry) => !unwanted.some((fits) => fits(entry.name)) && !isIgnored(entry));
    const lines = left.toSorted(byKindAndName).map(formatEntry);
    const notes = [
      ...(seen.length > left.length ? [`(${seen.length - left.length} ignored)`] : []),
      ...ignoreNotices(file_filtering_options),
      ...(all.length > seen.length ? [`(truncated: only the first ${maxEntries} entries were read)`] : []),
    ];
    const heading =
      left.length === 0 ? `Directory ${resolved.path} is empty.` : `Directory listing for ${resolved.path}:`;
    const text = [heading, ...lines, ...notes].join("\n");
    return {
      content: [{ type: "text", text: await truncateText(text, { files, name: "listing" }) }],
      display: { type: "listing", title: `Listed ${left.length} item(s)`, lines: [...lines.slice(0, 200), ...notes] },
    };
  },
});

/**
 * Files excluded from models stay excluded even if a git rule includes them again. A folder that git ignores can still
 * be listed by name.
 */
const createIgnoreCheck = async (
  files: WorkspaceFiles,
  folder: string,
  { git }: IgnoreFilter,
): Promise<(entry: DirectoryEntry) => boolean> => {
  const isKept = await files.ignoring(folder, { git: false, own: true });
  const isOpen = git && (await files.ignored(folder, { git, own: false })) === undefined;
  const isIgnored = isOpen ? await files.ignoring(folder, { git, own: false }) : () => undefined;
  return ({ name, kind }) =>
    isKept(name, kind === "folder") !== undefined || isIgnored(name, kind === "folder") !== undefined;
};

const byKindAndName = (one: DirectoryEntry, other: DirectoryEntry): number => {
  if ((one.kind === "folder") !== (other.kind === "folder")) return one.kind === "folder" ? -1 : 1;
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
};

const formatEntry = ({ name, kind, size }: DirectoryEntry): string => {
  if (kind === "folder") return `[DIR] ${escapeName(name)}`;
  return kind === "link" ? `[LINK] ${escapeName(name)}` : `${escapeName(name)} (${size} bytes)`;
};
