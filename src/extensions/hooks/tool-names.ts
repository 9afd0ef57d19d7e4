import { isObject, type JsonObject } from "../../conversation/json.ts";

/** A tool under the name another agent gives it: how its fields are called there. */
type ForeignTool = {
  readonly name: string;
  /** Our field name to theirs, where they differ. */
  readonly fields?: { readonly [field: string]: string };
};

/** The names of tools in Claude Code. Tools without an equivalent have their own name alone. */
const claudeTools: { readonly [tool: string]: ForeignTool } = {
  run_shell_command: { name: "Bash", fields: { background: "run_in_background" } },
  read_file: { name: "Read", fields: { absolute_path: "file_path" } },
  write_file: { name: "Write" },
  replace: { name: "Edit" },
  smart_edit: { name: "Edit" },
  glob: { name: "Glob" },
  search_file_content: { name: "Grep", fields: { include: "glob" } },
  list_directory: { name: "LS" },
  web_fetch: { name: "WebFetch" },
  google_web_search: { name: "WebSearch" },
  write_todos: { name: "TodoWrite" },
  task: { name: "Task", fields: { agent: "subagent_type", background: "run_in_background" } },
  ask_user: { name: "AskUserQuestion" },
  present_plan: { name: "ExitPlanMode" },
  activate_skill: { name: "Skill", fields: { name: "skill", arguments: "args" } },
};

/** A tool call as hooks see it. `server` is set for a tool of an MCP server. */
export type HookedTool = { readonly tool: string; readonly input: JsonObject; readonly server?: string | undefined };

/** A call under one of the names of its tool. */
export type NamedCall = { readonly tool_name: string; readonly tool_input: JsonObject };

/** Lists the names of a tool that matchers can use: ours, that of Claude Code, and for an MCP tool `mcp__server__tool`. */
export const namesOfTool = ({ tool, server }: Omit<HookedTool, "input">): readonly string[] => {
  if (server !== undefined) return [mcpName(server, tool), tool];
  const foreign = claudeTools[tool];
  if (foreign === undefined) return [tool];
  // Newer releases of Claude Code call the same tool Agent.
  return [foreign.name, ...(tool === "task" ? ["Agent"] : []), tool];
};

const mcpName = (server: string, tool: string): string =>
  `mcp__${server}__${tool.startsWith(`${server}__`) ? tool.slice(server.length + 2) : tool}`;

/** Our name of a tool that is given by any of its names. */
export const ownToolName = (name: string): string =>
  Object.keys(claudeTools).find((tool) => namesOfTool({ tool }).includes(name)) ?? name;

/** Describes a call under a name: `tool_input` has the fields the tool has under that name. */
export const nameCall = ({ tool, input }: HookedTool, name: string): NamedCall => {
  const fields = name === tool ? undefined : claudeTools[tool]?.fields;
  return { tool_name: name, tool_input: fields === undefined ? input : renameFields(input, fields) };
};

/** Translates arguments that a hook returned back to our field names. Undefined if they are no object. */
export const translateInput = (tool: string, name: string, returned: unknown): JsonObject | undefined => {
  if (!isObject(returned)) return undefined;
  const fields = name === tool ? undefined : claudeTools[tool]?.fields;
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
