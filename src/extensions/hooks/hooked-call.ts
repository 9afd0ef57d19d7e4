import { resolve } from "node:path";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import { fieldsUnderName, hookToolNames, isClaudeToolName } from "../../policy/gate/tool-names.ts";

/** A tool call as hooks see it. `server` is set for a tool of an MCP server. */
export type HookedTool = { readonly tool: string; readonly input: JsonObject; readonly server?: string | undefined };

/** A call under one of the names of its tool. */
export type NamedCall = { readonly tool_name: string; readonly tool_input: JsonObject };

/** Lists the names of a tool that matchers can use: those of other agents, ours, and for an MCP tool `mcp__server__tool`. */
export const namesOfTool = ({ tool, server }: Omit<HookedTool, "input">): readonly string[] =>
  server === undefined
    ? hookToolNames(tool)
    : [...serverNames(server).map((name) => `mcp__${name}__${toolOfServer(server, tool)}`), tool];

/** The names of a server: Claude Code calls the server of a plugin `plugin_PLUGIN_SERVER`. */
const serverNames = (server: string): readonly string[] => {
  const [, plugin, name] = /^([^:]+):(.+)$/.exec(server) ?? [];
  return plugin === undefined ? [server] : [`plugin_${plugin}_${name}`, server];
};

const toolOfServer = (server: string, tool: string): string =>
  tool.startsWith(`${server}__`) ? tool.slice(server.length + 2) : tool;

/**
 * Describes a call under a name: `tool_input` has the fields the tool has under that name. The paths of Claude Code's
 * tools are absolute, and hooks that guard a folder rely on it.
 */
export const nameCall = ({ tool, input }: HookedTool, name: string, folder: string): NamedCall => {
  const fields = fieldsUnderName(tool, name);
  const named = fields === undefined ? input : renameFields(input, fields);
  const path = named["file_path"];
  const isRelative = typeof path === "string" && path !== "" && !/^[/~]/.test(path);
  const isClaudeName = isClaudeToolName(tool, name);
  return {
    tool_name: name,
    tool_input: isClaudeName && isRelative ? { ...named, file_path: resolve(folder, path) } : named,
  };
};

/** The end of a shell command: what it printed, and its exit code and signal. Undefined if it still runs. */
type ShellResult = { readonly output: string; readonly code: number | undefined; readonly signal: string | undefined };

const parseShellResult = (text: string, { input }: HookedTool): ShellResult | undefined => {
  const { command } = input;
  const head = `Command: ${typeof command === "string" ? command : ""}\n`;
  const [, output, code = "", signal] =
    /^Directory: .*\nOutput: ([\s\S]*)\nError: .*\nExit Code: (.*)\nSignal: (.*)/.exec(
      text.startsWith(head) ? text.slice(head.length) : "",
    ) ?? [];
  if (output === undefined) return undefined;
  return {
    output: output === "(empty)" ? "" : output,
    code: /^\d+$/.test(code) ? Number(code) : undefined,
    signal: signal === "(none)" ? undefined : signal,
  };
};

/** The result of a shell command as Claude Code describes it, and its exit code. Both streams are in `stdout`. */
export const describeShellResponse = (text: string, call: HookedTool): JsonObject => {
  const { output, code } = parseShellResult(text, call) ?? {};
  const exitCode = code === undefined ? {} : { exit_code: code };
  return { stdout: output ?? text, stderr: "", interrupted: false, isImage: false, ...exitCode };
};

/** The output of a shell command, as hooks of Codex get it. */
export const shellOutput = (text: string, call: HookedTool): string => parseShellResult(text, call)?.output ?? text;

/** The error of a shell command that ran and failed, in the words of Claude Code; undefined for other results. */
export const findShellFailure = (text: string, call: HookedTool): string | undefined => {
  if (call.tool !== "run_shell_command") return undefined;
  const { output = "", code, signal } = parseShellResult(text, call) ?? {};
  const end = signal === undefined ? (code ?? 0) && `Exit code ${code}` : `Signal ${signal}`;
  return end === 0 ? undefined : `${end}\n${output}`.trimEnd();
};

/**
 * The result of a file tool as Claude Code describes it, with the fields known here; undefined for other tools. Hooks
 * look there for the path.
 */
export const describeFileResponse = (
  text: string,
  { tool_name: name, tool_input: input }: NamedCall,
): JsonObject | undefined => {
  const { file_path: filePath = null } = input;
  switch (name) {
    case "Read":
      return { type: "text", file: { filePath, content: text } };
    case "Write":
      return { filePath, content: input["content"] ?? null };
    case "Edit":
      return { filePath, oldString: input["old_string"] ?? null, newString: input["new_string"] ?? null };
    default:
      return undefined;
  }
};

/** Translates arguments that a hook returned back to our field names. Undefined if they are no object. */
export const translateInput = (tool: string, name: string, returned: unknown): JsonObject | undefined => {
  if (!isObject(returned)) return undefined;
  const fields = fieldsUnderName(tool, name);
  if (fields === undefined) return returned as JsonObject;
  const back = Object.fromEntries(Object.entries(fields).map(([own, theirs]) => [theirs, own]));
  return renameFields(returned as JsonObject, back);
};

const renameFields = (input: JsonObject, names: { readonly [field: string]: string }): JsonObject =>
  Object.fromEntries(
    Object.entries(input).map(([field, value]) => [
      Object.hasOwn(names, field) ? (names[field] ?? field) : field,
      value,
    ]),
  );
