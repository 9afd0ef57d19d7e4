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
export const toolCallFor = (intent: SingleCallIntent, tools: readonly DemoTool[]): DemoToolCall | string => {
  const preferred = preferredCall(intent);
  const candidates = [preferred, ...alternativeCalls(preferred)];
  for (const { tool, input } of candidates) {
    const offered = tools.find(({ name }) => name === tool);
    if (offered !== undefined) return { tool, input: renameArguments(input, offered) };
  }
  return preferred.tool;
};

const preferredCall = (intent: SingleCallIntent): DemoToolCall => {
  switch (intent.type) {
    case "list":
      return { tool: "list_directory", input: { path: intent.path } };
    case "read":
      return { tool: "read_file", input: { absolute_path: intent.path, ...rangeInput(intent) } };
    case "read-many":
      return { tool: "read_many_files", input: { paths: intent.patterns } };
    case "size":
      return { tool: "list_directory", input: { path: parentFolder(intent.path) } };
    case "find":
      return { tool: "glob", input: { pattern: intent.pattern, ...withoutUndefined({ path: intent.path }) } };
    case "search":
      return {
        tool: "search_file_content",
        input: { pattern: intent.pattern, ...withoutUndefined({ path: intent.path, include: intent.include }) },
      };
    case "run":
      return { tool: "run_shell_command", input: { command: intent.command } };
    case "write":
      return { tool: "write_file", input: { file_path: intent.path, content: intent.content } };
    case "edit":
      return {
        tool: "replace",
        input: { file_path: intent.path, old_string: intent.old, new_string: intent.fresh, expected_replacements: 0 },
      };
    case "fetch":
      return { tool: "web_fetch", input: { prompt: intent.prompt } };
    case "web":
      return { tool: "google_web_search", input: { query: intent.query } };
    case "remember":
      return { tool: "save_memory", input: { fact: intent.fact } };
    case "use":
      return { tool: intent.tool, input: intent.input };
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
