import type { ToolDeclaration } from "../conversation/entry.ts";
import type { Servers } from "../mcp/servers.ts";
import type { AgentOptions } from "./agent.ts";
import type { Head } from "./compositions.ts";
import type { AgentEvent } from "./events.ts";
import type { Journal } from "./journal.ts";

/** Whether there are servers of which nobody knows yet what they offer. */
export const isWaitedFor = (servers: Servers | undefined): boolean =>
  servers?.status().some(({ status, tools }) => status.state === "connecting" && tools === 0) ?? false;

/** What changes with the servers of a session. */
export type Served = {
  readonly head: Head;
  readonly own: readonly ToolDeclaration[];
  readonly journal: Journal;
  readonly tell: (event: AgentEvent) => void;
};

/**
 * Keeps the head of requests in step with the servers. Where one came, went or changed, that is written down and told;
 * a call of a tool nobody knows waits for servers that are still on their way.
 */
export const serving = (
  servers: Servers,
  { head, own, journal, tell }: Served,
): Pick<AgentOptions, "between" | "prepare"> => {
  let changed: Head | undefined;
  const take = (): void => {
    const changes = servers.takeChanges();
    if (changes.length === 0) return;
    const tools = [...own, ...servers.declarations()];
    journal.remark({ kind: "tools", tools });
    for (const { text } of changes) tell({ type: "notice", text });
    changed = { ...head, tools };
  };
  return {
    between: async () => {
      take();
      const next = changed;
      changed = undefined;
      return next;
    },
    prepare: async (calls, signal) => {
      const isKnown = (name: string): boolean =>
        own.some((tool) => tool.name === name) || servers.find(name) !== undefined;
      if (calls.every(({ tool }) => isKnown(tool))) return;
      await servers.settled(signal).catch(() => undefined);
      take();
    },
  };
};
