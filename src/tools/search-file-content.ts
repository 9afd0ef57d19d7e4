import { z } from "zod";
import { bounded, wholeLetters } from "./bounded.ts";
import type { GrepOptions, GrepResult, Place } from "./capabilities.ts";
import { nameLine } from "./names.ts";
import { matcher, namesOf } from "./pattern.ts";
import { defineTool, ToolFailure, type AnyTool } from "./tool.ts";

const mostMatches = 20_000;
const longestLine = 2000;

const input = z.object({
  pattern: z.string().min(1).describe("Regular expression to look for, without regard to case."),
  path: z.string().optional().describe("The folder or file to look in; the workspace if not given."),
  include: z.string().optional().describe("Glob pattern of the files to look in, such as *.ts or src/**."),
});

export const searchFileContent: AnyTool = defineTool({
  name: "search_file_content",
  about: "Searches file contents by a regular expression. Gives lines with their numbers, by file.",
  access: "read",
  leavesNoTrace: true,
  input,
  aliases: { path: ["dir_path"], include: ["include_pattern"] },
  touches: ({ path }) => ({ reads: [path ?? "."] }),
  title: ({ pattern, path }) => `Search for ${pattern}${path === undefined ? "" : ` in ${path}`}`,
  run: async ({ pattern, path, include }, { files, search, signal }) => {
    const place = await files.resolve(path ?? ".");
    if (place.kind === "absent") throw new ToolFailure("file_not_found", `There is nothing at ${path}.`);
    const options = { pattern, most: mostMatches, signal, ...included(include, place) };
    const found = await search.text(place.path, options);
    const where = `in ${path === undefined ? "the workspace" : `"${path}"`}${include === undefined ? "" : ` (filter: "${include}")`}`;
    if (found.matches.length === 0) {
      const text = `No matches found for pattern "${pattern}" ${where}.`;
      return { content: [{ type: "text", text }], display: { type: "text", text: "No matches found" } };
    }
    const text = grouped(found, `pattern "${pattern}" ${where}`, shownFrom(place, files.roots));
    return {
      content: [{ type: "text", text: await bounded(text, { files, name: "search" }) }],
      display: { type: "text", text: `Found ${count(found)}${found.cut ? " (limited)" : ""}` },
    };
  },
});

/** Which files are meant. A pattern without a slash means names, wherever the files are. */
const included = (include: string | undefined, place: Place): Pick<GrepOptions, "wanted" | "names"> => {
  if (include === undefined) return {};
  // oxlint-disable-next-line no-control-regex
  if (/^-|\$\(|[`\u0000-\u001f]/.test(include))
    throw new ToolFailure("invalid_tool_params", `include takes a glob pattern such as *.ts; ${include} is none.`);
  const relative = include.startsWith(`${place.path}/`) ? include.slice(place.path.length + 1) : include;
  if (/^([/~]|[A-Za-z]:)/.test(relative))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${include} leaves the folder it starts from.`);
  const wanted = matcher(relative.includes("/") ? relative : `**/${relative}`);
  return { wanted, ...namesOf(relative, true) };
};

/** How files are named, so that other tools find them by that name. */
const shownFrom = ({ path, kind, shown }: Place, [root]: readonly string[]): ((found: string) => string) => {
  const isInRoot = root !== undefined && (path === root || path.startsWith(`${root}/`));
  const start = isInRoot ? shown : path;
  if (kind === "file") return () => start;
  return (found) => (start === "." ? found : `${start}/${found}`);
};

const count = ({ matches }: GrepResult): string => (matches.length === 1 ? "1 match" : `${matches.length} matches`);

const grouped = (found: GrepResult, what: string, shown: (path: string) => string): string => {
  const limit = found.cut ? " (there are more; narrow the search to see them)" : "";
  const lines = [`Found ${count(found)} for ${what}${limit}:`];
  let file: string | undefined;
  for (const { path, line, text } of found.matches) {
    if (path !== file) lines.push("---", `File: ${nameLine(shown(path))}`);
    file = path;
    lines.push(`L${line}: ${shortened(text)}`);
  }
  lines.push("---");
  return lines.join("\n");
};

const shortened = (text: string): string =>
  text.length > longestLine ? `${wholeLetters(text.slice(0, longestLine))}... [truncated]` : text;
