import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { McpServers } from "../../mcp/servers.ts";
import type { AgentOptions } from "../options.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";

/** Whether a server is connecting whose tools are not known from an earlier session. */
export const hasUnknownTools = (servers: McpServers | undefined): boolean =>
  servers?.status().some(({ status, tools }) => status.state === "connecting" && tools === 0) ?? false;

/** The session whose tools follow its MCP servers. */
export type ToolSyncOptions = {
  readonly prefix: RequestPrefix;
  /** The tools that are not of MCP servers. */
  readonly own: readonly ToolDeclaration[];
  readonly journal: Journal;
  readonly emit: (event: AgentEvent) => void;
};

/**
 * Updates the tools of the request prefix when those of a server change. Changes are recorded and emitted as notices; a
 * call of an unknown tool waits for servers that are still connecting.
 */
export const syncServerTools = (
  servers: McpServers,
  { prefix, own, journal, emit }: ToolSyncOptions,
): Pick<AgentOptions, "beforeRequest" | "beforeCalls"> => {
  let changedPrefix: RequestPrefix | undefined;
  const applyChanges = (): void => {
    const changes = servers.applyChanges();
    if (changes.length === 0) return;
    const tools = [...own, ...servers.declarations()];
    journal.appendMetadata({ kind: "tools", tools });
    for (const { text } of changes) emit({ type: "notice", text });
    changedPrefix = { ...prefix, tools };
  };
  return {
    beforeRequest: async () => {
      applyChanges();
      const next = changedPrefix;
      changedPrefix = undefined;
      return next;
    },
    beforeCalls: async (calls, signal) => {
      const isKnown = (name: string): boolean =>
        own.some((tool) => tool.name === name) || servers.find(name) !== undefined;
      if (calls.every(({ tool }) => isKnown(tool))) return;
      await servers.settled(signal).catch(() => undefined);
      applyChanges();
    },
  };
};
