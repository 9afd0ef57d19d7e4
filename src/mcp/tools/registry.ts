import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { ServerIdentity } from "../../policy/gate/request.ts";
import type { AnyTool } from "../../tools/tool.ts";
import { digestOf } from "../config/read-servers.ts";
import { ToolNames } from "./names.ts";
import type { McpServer } from "../server.ts";
import { createMcpTool } from "./tool.ts";

/** A tool of a server as the scheduler's registry takes it. */
export type McpTool = { readonly tool: AnyTool; readonly server?: string; readonly identity?: ServerIdentity };

/** What is different with a server's tools since the last turn, by the names models know. */
export type McpToolChanges = {
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** One line for the person. */
  readonly text: string;
};

/** The tools models are offered. They stay as they are until somebody takes over what changed. */
export class McpToolRegistry {
  readonly #names: ToolNames;
  readonly #own: readonly AnyTool[];
  #tools: readonly McpTool[] = [];
  #byName = new Map<string, McpTool>();

  /** `own` are tools of ours that come with the first server. */
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
    return this.#tools.map(({ tool: { name, description: about, parameters = {} } }) => ({
      name,
      description: about,
      parameters,
    }));
  }

  applyChanges(servers: readonly McpServer[]): readonly McpToolChanges[] {
    const there = servers.filter(({ state }) => state.state !== "failed" && state.state !== "closed");
    this.#names.assign(
      there.flatMap(({ name: server, catalog }) => catalog.tools.map(({ name }) => ({ server, tool: name }))),
    );
    const before = this.#byName;
    const own = there.some(({ catalog }) => catalog.resources.length + catalog.templates.length > 0) ? this.#own : [];
    this.#tools = [...own.map((tool) => ({ tool })), ...there.flatMap((server) => this.#toolsOf(server, before))];
    this.#byName = new Map(this.#tools.map((one) => [one.tool.name, one]));
    return servers.flatMap(({ name: server }) => compareTools(server, before, this.#byName));
  }

  /** A tool that is still the same stays the same object. */
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
  const came = namesIn(ofServer(after).filter(({ tool }) => !before.has(tool.name)));
  const went = namesIn(ofServer(before).filter(({ tool }) => !after.has(tool.name)));
  const changed = namesIn(
    ofServer(after).filter(({ tool, identity }) => {
      const known = before.get(tool.name);
      return known !== undefined && known.identity?.tool !== identity?.tool;
    }),
  );
  if (came.length + went.length + changed.length === 0) return [];
  const parts = [
    ...(came.length > 0 ? [`${countTools(came.length)} came`] : []),
    ...(went.length > 0 ? [`${countTools(went.length)} went`] : []),
    ...(changed.length > 0 ? [`${countTools(changed.length)} changed: ${changed.slice(0, 5).join(", ")}`] : []),
  ];
  return [{ server, added: came, removed: went, changed, text: `MCP server ${server}: ${parts.join("; ")}.` }];
};

const countTools = (count: number): string => (count === 1 ? "1 tool" : `${count} tools`);
