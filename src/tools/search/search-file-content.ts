import { object, optional, string } from "../schema.ts";
import { truncateText, dropHalfSurrogates } from "../result/truncate.ts";
import type { GrepOptions, GrepResult, ResolvedPath } from "../capabilities.ts";
import { escapeName } from "../files/escape-name.ts";
import { createGlobMatcher, namePattern } from "./glob-pattern.ts";
import { defineTool, ToolFailure, type AnyTool } from "../tool.ts";

const maxMatches = 20_000;
const maxLineLength = 2000;

const input = object({
  pattern: string({ minLength: 1, description: "Regular expression to search for, case-insensitive." }),
  path: optional(string({ description: "Directory or file to search. Default: the workspace." })),
  include: optional(string({ description: "Glob pattern of the files to search, such as *.ts or src/**." })),
});

export const searchFileContent: AnyTool = defineTool({
  name: "search_file_content",
  description:
    "Searches file contents for a regular expression. Returns matching lines with line numbers, grouped by file.",
  access: "read",
  isReadOnly: true,
  input,
  aliases: { path: ["dir_path"], include: ["include_pattern"] },
  touches: ({ path }) => ({ reads: [path ?? "."] }),
  title: ({ pattern, path }) => `Search for ${pattern}${path === undefined ? "" : ` in ${path}`}`,
  run: async ({ pattern, path, include }, { files, search, signal }) => {
    const resolved = await files.resolve(path ?? ".");
    if (resolved.kind === "absent") throw new ToolFailure("file_not_found", `There is nothing at ${path}.`);
    const options = { pattern, most: maxMatches, signal, ...includeFilter(include, resolved) };
    const found = await search.text(resolved.path, options);
    const where = `in ${path === undefined ? "the workspace" : `"${path}"`}${include === undefined ? "" : ` (filter: "${include}")`}`;
    if (found.matches.length === 0) {
      const text = `No matches found for pattern "${pattern}" ${where}.`;
      return { content: [{ type: "text", text }], display: { type: "text", text: "No matches found" } };
    }
    const text = formatMatches(found, `pattern "${pattern}" ${where}`, createPathFormatter(resolved, files.roots));
    return {
      content: [{ type: "text", text: await truncateText(text, { files, name: "search" }) }],
      display: { type: "text", text: `Found ${formatCount(found)}${found.cut ? " (limited)" : ""}` },
    };
  },
});

/** The files to search. A pattern without a slash matches names in any folder. */
const includeFilter = (include: string | undefined, resolved: ResolvedPath): Pick<GrepOptions, "wanted" | "names"> => {
  if (include === undefined) return {};
  // oxlint-disable-next-line no-control-regex
  if (/^-|\$\(|[`\u0000-\u001f]/.test(include))
    throw new ToolFailure("invalid_tool_params", `include takes a glob pattern such as *.ts; ${include} is none.`);
  const relative = include.startsWith(`${resolved.path}/`) ? include.slice(resolved.path.length + 1) : include;
  if (/^([/~]|[A-Za-z]:)/.test(relative))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${include} leaves the folder it starts from.`);
  const wanted = createGlobMatcher(relative.includes("/") ? relative : `**/${relative}`);
  return { wanted, ...namePattern(relative, true) };
};

/** How files are named, so that other tools find them by that name. */
const createPathFormatter = (
  { path, kind, shown }: ResolvedPath,
  [root]: readonly string[],
): ((found: string) => string) => {
  const isInRoot = root !== undefined && (path === root || path.startsWith(`${root}/`));
  const start = isInRoot ? shown : path;
  if (kind === "file") return () => start;
  return (found) => (start === "." ? found : `${start}/${found}`);
};

const formatCount = ({ matches }: GrepResult): string =>
  matches.length === 1 ? "1 match" : `${matches.length} matches`;

const formatMatches = (found: GrepResult, contentType: string, shown: (path: string) => string): string => {
  const limit = found.cut ? " (there are more; narrow the search to see them)" : "";
  const lines = [`Found ${formatCount(found)} for ${contentType}${limit}:`];
  let file: string | undefined;
  for (const { path, line, text } of found.matches) {
    if (path !== file) lines.push("---", `File: ${escapeName(shown(path))}`);
    file = path;
    lines.push(`L${line}: ${shortenLine(text)}`);
  }
  lines.push("---");
  return lines.join("\n");
};

const shortenLine = (text: string): string =>
  text.length > maxLineLength ? `${dropHalfSurrogates(text.slice(0, maxLineLength))}... [truncated]` : text;
