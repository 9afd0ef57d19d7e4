import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { McpServers } from "../../mcp/servers.ts";
import type { AgentOptions } from "../options.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";

/** Whether there are servers of which nobody knows yet what they offer. */
export const hasUnknownTools = (servers: McpServers | undefined): boolean =>
  servers?.status().some(({ status, tools }) => status.state === "connecting" && tools === 0) ?? false;

/** What changes with the servers of a session. */
export type ToolSyncOptions = {
  readonly prefix: RequestPrefix;
  readonly own: readonly ToolDeclaration[];
  readonly journal: Journal;
  readonly emit: (event: AgentEvent) => void;
};

/**
 * Keeps the head of requests in step with the servers. Where one came, went or changed, that is written down and told;
 * a call of a tool nobody knows waits for servers that are still on their way.
 */
export const syncServerTools = (
  servers: McpServers,
  { prefix: head, own, journal, emit: tell }: ToolSyncOptions,
): Pick<AgentOptions, "beforeRequest" | "beforeCalls"> => {
  let changed: RequestPrefix | undefined;
  const take = (): void => {
    const changes = servers.applyChanges();
    if (changes.length === 0) return;
    const tools = [...own, ...servers.declarations()];
    journal.appendMetadata({ kind: "tools", tools });
    for (const { text } of changes) tell({ type: "notice", text });
    changed = { ...head, tools };
  };
  return {
    beforeRequest: async () => {
      take();
      const next = changed;
      changed = undefined;
      return next;
    },
    beforeCalls: async (calls, signal) => {
      const isKnown = (name: string): boolean =>
        own.some((tool) => tool.name === name) || servers.find(name) !== undefined;
      if (calls.every(({ tool }) => isKnown(tool))) return;
      await servers.settled(signal).catch(() => undefined);
      take();
    },
  };
};
