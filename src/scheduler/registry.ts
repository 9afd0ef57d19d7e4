import type { ServerIdentity } from "../policy/gate/request.ts";
import type { AnyTool } from "../tools/tool.ts";

/** The tools available now; those of MCP servers are added and removed. */
export type ToolRegistry = {
  readonly find: (name: string) => RegisteredTool | undefined;
  readonly names: () => readonly string[];
};

/**
 * A tool and its origin: `server` is set for a tool of an MCP server, and `identity` says which stored answers apply to
 * it.
 */
export type RegisteredTool = {
  readonly tool: AnyTool;
  readonly server?: string | undefined;
  readonly identity?: ServerIdentity | undefined;
};

/** Creates a registry of fixed tools. */
export const createRegistry = (tools: readonly AnyTool[]): ToolRegistry => {
  const byName = new Map(tools.map((tool) => [tool.name, { tool }]));
  return { find: (name) => byName.get(name), names: () => [...byName.keys()] };
};
