import type { Servers } from "../mcp/servers.ts";
import { registryOf, type RegisteredTool, type ToolRegistry } from "../scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { removeLeftovers } from "../policy/workspace-leftovers.ts";
import { openServices, type OpenServices } from "../scheduler/services.ts";
import { builtins } from "../tools/all.ts";
import type { AskModel } from "../tools/capabilities.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { NamedAgent } from "./agent-file.ts";
import type { Allowed } from "./connecting.ts";
import type { OpenOptions } from "./open.ts";
import { makeTaskTool, type DoTask } from "./task-tool.ts";
import { makeWaitTool } from "./wait-tool.ts";

/** What calls run with. */
export type Toolbox = {
  readonly scheduler: Scheduler;
  /** Another scheduler for some of the built-in tools, behind the same gate. */
  readonly schedulerFor: (tools: readonly string[]) => Scheduler;
  readonly services: OpenServices;
  /** Removes temporary files that killed programs left in the workspace. */
  readonly removeLeftovers: (signal: AbortSignal) => Promise<void>;
};

/** What the tools of a session need besides what it was opened with. */
export type ToolboxOptions = {
  readonly open: OpenOptions;
  /** The session's id. */
  readonly session: string;
  readonly model: AskModel;
  readonly agents: readonly NamedAgent[];
  readonly servers: Servers | undefined;
  /** What the person lets servers do without being asked. */
  readonly allow: Allowed;
  /** Made once the toolbox stands, since subagents use it too. */
  readonly doTask: (toolbox: Pick<Toolbox, "schedulerFor">) => DoTask;
};

/** Opens the tools of a session behind its gate. */
export const openToolbox = async ({
  open,
  session,
  model,
  agents,
  servers,
  allow,
  doTask,
}: ToolboxOptions): Promise<Toolbox> => {
  const { world, home, folder, loaded, interactive, sandbox } = open;
  const { settings, policy } = loaded;
  const toolTime = 1000 * settings["limits.toolTime"];
  const services = await openServices({
    world,
    roots: [folder, ...settings["context.includeDirectories"]],
    home,
    session,
    mode: policy.mode,
    rules: {
      ...policy.rules,
      line: { ...policy.rules.line, allow: [...(policy.rules.line?.allow ?? []), ...allow.line] },
      settings: { ...policy.rules.settings, allow: [...(policy.rules.settings?.allow ?? []), ...allow.settings] },
    },
    trusted: policy.trusted,
    interactive,
    longest: toolTime,
    model,
    ...(sandbox === undefined ? {} : { sandbox, sandboxNetwork: settings.sandboxNetwork === "on" }),
  });
  const shared = {
    gate: services.gate,
    capabilities: services.capabilities,
    redactor: services.redactor,
    clock: world.clock,
    limits: { processes: settings["limits.processes"], toolTime },
  };
  const schedulerFor = (tools: readonly string[]): Scheduler => {
    const registry = withServers(builtins, servers);
    const find = (name: string): RegisteredTool | undefined => (tools.includes(name) ? registry.find(name) : undefined);
    return createScheduler({ ...shared, tools: { find, names: () => tools } });
  };
  const waiting = servers === undefined ? [] : [makeWaitTool(servers)];
  const task = makeTaskTool(agents, doTask({ schedulerFor }));
  return {
    schedulerFor,
    services,
    removeLeftovers: (signal) => removeLeftovers(world, services.workspace.roots, signal),
    scheduler: createScheduler({ ...shared, tools: withServers([...builtins, task, ...waiting], servers) }),
  };
};

/** Our tools, and those of servers as they are offered now. */
const withServers = (tools: readonly AnyTool[], servers: Servers | undefined): ToolRegistry => {
  const own = registryOf(tools);
  if (servers === undefined) return own;
  return {
    find: (name) => own.find(name) ?? servers.find(name),
    names: () => [...own.names(), ...servers.names()],
  };
};
