import type { Offered, ToolCall } from "./heard.ts";
import type { Wish } from "./wish.ts";

/** The wishes that one call fulfils. */
export type OneCall = Extract<
  Wish,
  {
    type:
      | "list"
      | "read"
      | "read-many"
      | "find"
      | "search"
      | "size"
      | "run"
      | "write"
      | "edit"
      | "fetch"
      | "web"
      | "remember"
      | "use";
  }
>;

/** The call for a wish, with the tools that are offered; the name of the tool that is missing where none of them can do it. */
export const callFor = (wish: OneCall, tools: readonly Offered[]): ToolCall | string => {
  const asked = wanted(wish);
  const ways = [asked, ...otherwise(asked)];
  for (const { tool, input } of ways) {
    const offered = tools.find(({ name }) => name === tool);
    if (offered !== undefined) return { tool, input: renamed(input, offered) };
  }
  return asked.tool;
};

const wanted = (wish: OneCall): ToolCall => {
  switch (wish.type) {
    case "list":
      return { tool: "list_directory", input: { path: wish.path } };
    case "read":
      return { tool: "read_file", input: { absolute_path: wish.path, ...rangeOf(wish) } };
    case "read-many":
      return { tool: "read_many_files", input: { paths: wish.patterns } };
    case "size":
      return { tool: "list_directory", input: { path: parentOf(wish.path) } };
    case "find":
      return { tool: "glob", input: { pattern: wish.pattern, ...given({ path: wish.path }) } };
    case "search":
      return {
        tool: "search_file_content",
        input: { pattern: wish.pattern, ...given({ path: wish.path, include: wish.include }) },
      };
    case "run":
      return { tool: "run_shell_command", input: { command: wish.command } };
    case "write":
      return { tool: "write_file", input: { file_path: wish.path, content: wish.content } };
    case "edit":
      return {
        tool: "replace",
        input: { file_path: wish.path, old_string: wish.old, new_string: wish.fresh, expected_replacements: 0 },
      };
    case "fetch":
      return { tool: "web_fetch", input: { prompt: wish.prompt } };
    case "web":
      return { tool: "google_web_search", input: { query: wish.query } };
    case "remember":
      return { tool: "save_memory", input: { fact: wish.fact } };
    case "use":
      return { tool: wish.tool, input: wish.input };
  }
};

const rangeOf = ({ lines }: Extract<Wish, { type: "read" }>): ToolCall["input"] =>
  lines === undefined ? {} : { ...(lines.from === 0 ? {} : { offset: lines.from }), ...given({ limit: lines.count }) };

/** The folder a path is in, and its last name. */
const parentOf = (path: string): string =>
  path.replace(/\/+$/, "").replace(/\/?[^/]*$/, "") || (path.startsWith("/") ? "/" : ".");

const given = (values: Readonly<Record<string, unknown>>): ToolCall["input"] =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Other tools that can do the same, where the usual one is not offered. */
const otherwise = ({ tool, input }: ToolCall): readonly ToolCall[] => {
  if (tool !== "replace") return [];
  const { expected_replacements: _, ...rest } = input;
  const instruction = `Replace ${JSON.stringify(input["old_string"])} with ${JSON.stringify(input["new_string"])}.`;
  return [{ tool: "smart_edit", input: { instruction, ...rest } }];
};

/** The arguments under the names this tool declares. */
const renamed = (input: ToolCall["input"], { parameters }: Offered): ToolCall["input"] =>
  Object.fromEntries(Object.entries(input).map(([key, value]) => [nameIn(parameters, key), value]));

const nameIn = (parameters: readonly string[], key: string): string =>
  parameters.includes(key)
    ? key
    : (aliases.find((names) => names.includes(key))?.find((name) => parameters.includes(name)) ?? key);

/** Names that different hands have given to one parameter. */
const aliases: readonly (readonly string[])[] = [
  ["absolute_path", "file_path", "path"],
  ["path", "dir_path", "directory"],
  ["include", "include_pattern"],
  ["prompt", "url"],
];
