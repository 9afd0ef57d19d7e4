import type { ServerIdentity } from "../policy/gate/request.ts";
import type { AnyTool } from "../tools/tool.ts";

/** The tools there are, as of now: those of servers come and go. */
export type ToolRegistry = {
  readonly find: (name: string) => RegisteredTool | undefined;
  readonly names: () => readonly string[];
};

/** A tool, and whose it is: `server` is set for one of an MCP server, and `identity` says which answers hold for it. */
export type RegisteredTool = {
  readonly tool: AnyTool;
  readonly server?: string | undefined;
  readonly identity?: ServerIdentity | undefined;
};

/** A registry of tools that stay. */
export const createRegistry = (tools: readonly AnyTool[]): ToolRegistry => {
  const byName = new Map(tools.map((tool) => [tool.name, { tool }]));
  return { find: (name) => byName.get(name), names: () => [...byName.keys()] };
};
