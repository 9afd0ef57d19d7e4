import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { ServerIdentity } from "../../policy/gate/request.ts";
import type { AnyTool } from "../../tools/tool.ts";
import { digestOf } from "../config/read-servers.ts";
import { ToolNames } from "./names.ts";
import type { McpServer } from "../server.ts";
import { createMcpTool } from "./tool.ts";

/** A tool of a server, for the scheduler's registry. */
export type McpTool = { readonly tool: AnyTool; readonly server?: string; readonly identity?: ServerIdentity };

/** Changes of a server's tools since the last turn, by the names models see. */
export type McpToolChanges = {
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** One line for the user. */
  readonly text: string;
};

/** The tools offered to models: a snapshot that changes only by `applyChanges`. */
export class McpToolRegistry {
  readonly #names: ToolNames;
  readonly #own: readonly AnyTool[];
  #tools: readonly McpTool[] = [];
  #byName = new Map<string, McpTool>();

  /** `own` are our tools that are offered with the first server that has resources. */
  constructor(reserved: readonly string[], own: readonly AnyTool[]) {
    this.#own = own;
    this.#names = new ToolNames([...reserved, ...own.map(({ name }) => name)]);
  }

  tools(): readonly McpTool[] {
    return this.#tools;
  }

  find(name: string): McpTool | undefined {
    return this.#byName.get(name);
  }

  declarations(): readonly ToolDeclaration[] {
    return this.#tools.map(({ tool: { name, description, parameters = {} } }) => ({
      name,
      description,
      parameters,
    }));
  }

  applyChanges(servers: readonly McpServer[]): readonly McpToolChanges[] {
    const available = servers.filter(({ state }) => state.state !== "failed" && state.state !== "closed");
    this.#names.assign(
      available.flatMap(({ name: server, catalog }) => catalog.tools.map(({ name }) => ({ server, tool: name }))),
    );
    const before = this.#byName;
    const own = available.some(({ catalog }) => catalog.resources.length + catalog.templates.length > 0)
      ? this.#own
      : [];
    this.#tools = [...own.map((tool) => ({ tool })), ...available.flatMap((server) => this.#toolsOf(server, before))];
    this.#byName = new Map(this.#tools.map((one) => [one.tool.name, one]));
    return servers.flatMap(({ name }) => compareTools(name, before, this.#byName));
  }

  /** An unchanged tool keeps its object. */
  #toolsOf(server: McpServer, before: ReadonlyMap<string, McpTool>): readonly McpTool[] {
    const { config, catalog } = server;
    const whole = digestOf([config.digest, catalog.tools.map(({ digest }) => digest).toSorted()]);
    return catalog.tools.flatMap((offered) => {
      const name = this.#names.nameOf({ server: server.name, tool: offered.name });
      if (name === undefined) return [];
      const identity = { server: whole, tool: digestOf([config.digest, offered.digest]) };
      const known = before.get(name);
      const tool = known?.identity?.tool === identity.tool ? known.tool : createMcpTool(name, offered, server);
      return [{ tool, server: server.name, identity }];
    });
  }
}

type ToolsByName = ReadonlyMap<string, McpTool>;

const compareTools = (server: string, before: ToolsByName, after: ToolsByName): readonly McpToolChanges[] => {
  const ofServer = (tools: ToolsByName): readonly McpTool[] =>
    [...tools.values()].filter((one) => one.server === server);
  const namesIn = (tools: readonly McpTool[]): readonly string[] => tools.map(({ tool }) => tool.name);
  const added = namesIn(ofServer(after).filter(({ tool }) => !before.has(tool.name)));
  const removed = namesIn(ofServer(before).filter(({ tool }) => !after.has(tool.name)));
  const changed = namesIn(
    ofServer(after).filter(({ tool, identity }) => {
      const known = before.get(tool.name);
      return known !== undefined && known.identity?.tool !== identity?.tool;
    }),
  );
  if (added.length + removed.length + changed.length === 0) return [];
  const parts = [
    ...(added.length > 0 ? [`${countTools(added.length)} added`] : []),
    ...(removed.length > 0 ? [`${countTools(removed.length)} removed`] : []),
    ...(changed.length > 0 ? [`${countTools(changed.length)} changed: ${changed.slice(0, 5).join(", ")}`] : []),
  ];
  return [{ server, added, removed, changed, text: `MCP server ${server}: ${parts.join("; ")}.` }];
};

const countTools = (count: number): string => (count === 1 ? "1 tool" : `${count} tools`);
