import type { DemoTool, DemoToolCall } from "../api/parsed-request.ts";
import type { Intent } from "../intent/intent.ts";

/** The intents that a single tool call fulfils. */
export type SingleCallIntent = Extract<
  Intent,
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

/** Returns the tool call for an intent, using the offered tools; returns the name of the missing tool if none can do it. */
export const toolCallFor = (wish: SingleCallIntent, tools: readonly DemoTool[]): DemoToolCall | string => {
  const asked = preferredCall(wish);
  const ways = [asked, ...alternativeCalls(asked)];
  for (const { tool, input } of ways) {
    const offered = tools.find(({ name }) => name === tool);
    if (offered !== undefined) return { tool, input: renameArguments(input, offered) };
  }
  return asked.tool;
};

const preferredCall = (wish: SingleCallIntent): DemoToolCall => {
  switch (wish.type) {
    case "list":
      return { tool: "list_directory", input: { path: wish.path } };
    case "read":
      return { tool: "read_file", input: { absolute_path: wish.path, ...rangeInput(wish) } };
    case "read-many":
      return { tool: "read_many_files", input: { paths: wish.patterns } };
    case "size":
      return { tool: "list_directory", input: { path: parentFolder(wish.path) } };
    case "find":
      return { tool: "glob", input: { pattern: wish.pattern, ...withoutUndefined({ path: wish.path }) } };
    case "search":
      return {
        tool: "search_file_content",
        input: { pattern: wish.pattern, ...withoutUndefined({ path: wish.path, include: wish.include }) },
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

const rangeInput = ({ lines }: Extract<Intent, { type: "read" }>): DemoToolCall["input"] =>
  lines === undefined
    ? {}
    : { ...(lines.from === 0 ? {} : { offset: lines.from }), ...withoutUndefined({ limit: lines.count }) };

/** Returns the folder that contains a path. */
const parentFolder = (path: string): string =>
  path.replace(/\/+$/, "").replace(/\/?[^/]*$/, "") || (path.startsWith("/") ? "/" : ".");

const withoutUndefined = (values: Readonly<Record<string, unknown>>): DemoToolCall["input"] =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Returns calls of other tools with the same effect, for when the preferred tool is not offered. */
const alternativeCalls = ({ tool, input }: DemoToolCall): readonly DemoToolCall[] => {
  if (tool !== "replace") return [];
  const { expected_replacements: _, ...rest } = input;
  const instruction = `Replace ${JSON.stringify(input["old_string"])} with ${JSON.stringify(input["new_string"])}.`;
  return [{ tool: "smart_edit", input: { instruction, ...rest } }];
};

/** Renames the arguments to the parameter names this tool declares. */
const renameArguments = (input: DemoToolCall["input"], { parameters }: DemoTool): DemoToolCall["input"] =>
  Object.fromEntries(Object.entries(input).map(([key, value]) => [parameterName(parameters, key), value]));

const parameterName = (parameters: readonly string[], key: string): string =>
  parameters.includes(key)
    ? key
    : (parameterAliases.find((names) => names.includes(key))?.find((name) => parameters.includes(name)) ?? key);

/** Names that different agents use for the same parameter. */
const parameterAliases: readonly (readonly string[])[] = [
  ["absolute_path", "file_path", "path"],
  ["path", "dir_path", "directory"],
  ["include", "include_pattern"],
  ["prompt", "url"],
];
