import type { McpServers } from "../mcp/servers.ts";
import { createRegistry, type RegisteredTool, type ToolRegistry } from "../scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { removeStaleTemporaryFiles } from "../policy/workspace/temporary-files.ts";
import { openServices, type OpenServices } from "../scheduler/services.ts";
import { builtinTools } from "../tools/builtins.ts";
import type { SideQueryModel } from "../tools/capabilities.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import type { ServerAllowRules } from "./mcp/connect.ts";
import type { OpenAgentOptions } from "./options.ts";
import { createTaskTool, type RunTask } from "./subagents/task-tool.ts";
import { createWaitTool } from "./mcp/wait-tool.ts";

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
  readonly options: OpenAgentOptions;
  /** The session's id. */
  readonly sessionId: string;
  readonly model: SideQueryModel;
  readonly agents: readonly SubagentDefinition[];
  readonly servers: McpServers | undefined;
  /** What the person lets servers do without being asked. */
  readonly allow: ServerAllowRules;
  /** Made once the toolbox stands, since subagents use it too. */
  readonly createRunTask: (toolbox: Pick<Toolbox, "schedulerFor">) => RunTask;
};

/** Opens the tools of a session behind its gate. */
export const openToolbox = async ({
  options: open,
  sessionId: session,
  model,
  agents,
  servers,
  allow,
  createRunTask: doTask,
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
      commandLine: { ...policy.rules.commandLine, allow: [...(policy.rules.commandLine?.allow ?? []), ...allow.line] },
      settings: { ...policy.rules.settings, allow: [...(policy.rules.settings?.allow ?? []), ...allow.settings] },
    },
    trusted: policy.trusted,
    interactive,
    commandTimeoutMs: toolTime,
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
    const registry = withServers(builtinTools, servers);
    const find = (name: string): RegisteredTool | undefined => (tools.includes(name) ? registry.find(name) : undefined);
    return createScheduler({ ...shared, tools: { find, names: () => tools } });
  };
  const waiting = servers === undefined ? [] : [createWaitTool(servers)];
  const task = createTaskTool(agents, doTask({ schedulerFor }));
  return {
    schedulerFor,
    services,
    removeLeftovers: (signal) => removeStaleTemporaryFiles(world, services.workspace.roots, signal),
    scheduler: createScheduler({ ...shared, tools: withServers([...builtinTools, task, ...waiting], servers) }),
  };
};

/** Our tools, and those of servers as they are offered now. */
const withServers = (tools: readonly AnyTool[], servers: McpServers | undefined): ToolRegistry => {
  const own = createRegistry(tools);
  if (servers === undefined) return own;
  return {
    find: (name) => own.find(name) ?? servers.find(name),
    names: () => [...own.names(), ...servers.names()],
  };
};
