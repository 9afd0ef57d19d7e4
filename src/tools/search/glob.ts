import { boolean, object, optional, string } from "../schema.ts";
import { truncateText } from "../result/truncate.ts";
import type { WorkspaceFiles, ResolvedPath } from "../capabilities.ts";
import { escapeName } from "../files/escape-name.ts";
import { requireRelative, createGlobMatcher, namePattern, splitGlob } from "./glob-pattern.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "../tool.ts";

const maxFiles = 5000;

const input = object({
  pattern: string({ minLength: 1, description: "Glob pattern such as **/*.ts or src/*.{js,json}, relative to path." }),
  path: optional(string({ description: "Directory to search. Default: the workspace." })),
  case_sensitive: optional(boolean({ description: "Match case. Default: false." })),
  respect_git_ignore: optional(boolean({ description: "Respect .gitignore. Default: true." })),
});

export const glob: AnyTool = defineTool({
  name: "glob",
  description: "Finds files by a glob pattern. Returns absolute paths, most recently modified first.",
  access: "read",
  isReadOnly: true,
  input,
  aliases: { path: ["dir_path"] },
  touches: ({ pattern, path = "." }) => ({ reads: [splitFolder(pattern, path).folder] }),
  title: ({ pattern, path }) => `Find ${pattern}${path === undefined ? "" : ` in ${path}`}`,
  run: async (args, { files, search, signal }) => {
    const { pattern, path = ".", case_sensitive = false, respect_git_ignore = true } = args;
    const start = await requireFolder(files, path);
    const { folder, rest } = splitFolder(pattern, path);
    const wanted = createGlobMatcher(requireRelative(rest), { caseSensitive: case_sensitive });
    const resolved = await files.resolve(folder);
    if (resolved.kind !== "folder") return noFilesResult(pattern, start.path);
    const rules = { git: respect_git_ignore, own: true };
    const names = namePattern(rest, case_sensitive);
    const { paths, cut } = await search.files(resolved.path, { rules, wanted, ...names, most: maxFiles, signal });
    if (paths.length === 0) return noFilesResult(pattern, start.path);
    const more = cut ? ` (only the latest ${paths.length} are listed)` : "";
    const text = [
      `Found ${paths.length} file(s) matching "${pattern}" within ${start.path}${more}, sorted by modification time (newest first):`,
      ...paths.map((found) => escapeName(`${resolved.path === "/" ? "" : resolved.path}/${found}`)),
    ].join("\n");
    return {
      content: [{ type: "text", text: await truncateText(text, { files, name: "glob" }) }],
      display: { type: "listing", title: `Found ${paths.length} file(s)`, lines: paths.slice(0, 200) },
    };
  },
});

/** Splits a pattern at its first wildcard, relative to the search folder unless it names a folder of its own. */
const splitFolder = (pattern: string, path: string): { readonly folder: string; readonly rest: string } => {
  const { folder, rest } = splitGlob(pattern);
  if (folder === "") return { folder: path, rest };
  // Resolving the path reports what is wrong with a tilde or a URL.
  const isOwn = folder.startsWith("/") || /^(~$|~\/|[A-Za-z][A-Za-z\d+.-]*:)/.test(folder);
  return { folder: isOwn ? folder : `${path}/${folder}`, rest };
};

const requireFolder = async (files: WorkspaceFiles, path: string): Promise<ResolvedPath> => {
  const resolved = await files.resolve(path);
  if (resolved.kind === "absent") throw new ToolFailure("file_not_found", `Folder not found: ${path}.`);
  if (resolved.kind !== "folder") throw new ToolFailure("path_is_not_a_directory", `${path} is not a folder.`);
  return resolved;
};

const noFilesResult = (pattern: string, folder: string): ToolResult => {
  const text = `No files found matching pattern "${pattern}" within ${folder}.`;
  return { content: [{ type: "text", text }], display: { type: "text", text: "No files found" } };
};
