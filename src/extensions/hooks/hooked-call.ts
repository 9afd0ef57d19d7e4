import { isObject, type JsonObject } from "../../conversation/json.ts";
import { fieldsUnderName, hookToolNames } from "../../policy/gate/tool-names.ts";

/** A tool call as hooks see it. `server` is set for a tool of an MCP server. */
export type HookedTool = { readonly tool: string; readonly input: JsonObject; readonly server?: string | undefined };

/** A call under one of the names of its tool. */
export type NamedCall = { readonly tool_name: string; readonly tool_input: JsonObject };

/** Lists the names of a tool that matchers can use: those of other agents, ours, and for an MCP tool `mcp__server__tool`. */
export const namesOfTool = ({ tool, server }: Omit<HookedTool, "input">): readonly string[] =>
  server === undefined ? hookToolNames(tool) : [mcpName(server, tool), tool];

const mcpName = (server: string, tool: string): string =>
  `mcp__${server}__${tool.startsWith(`${server}__`) ? tool.slice(server.length + 2) : tool}`;

/** Describes a call under a name: `tool_input` has the fields the tool has under that name. */
export const nameCall = ({ tool, input }: HookedTool, name: string): NamedCall => {
  const fields = fieldsUnderName(tool, name);
  return { tool_name: name, tool_input: fields === undefined ? input : renameFields(input, fields) };
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
