import type { Skill } from "../context/skills/find.ts";
import type { SessionPlugins } from "../extensions/plugins/session.ts";
import type { McpServers } from "../mcp/servers.ts";
import type { CallHooks } from "../scheduler/call-hooks.ts";
import { createRegistry, type RegisteredTool, type ToolRegistry } from "../scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import type { SessionRules } from "../policy/gate/session-rules.ts";
import { isInside } from "../policy/workspace/paths.ts";
import { removeStaleTemporaryFiles } from "../policy/workspace/temporary-files.ts";
import { openServices, type OpenServices } from "../scheduler/services.ts";
import { builtinTools } from "../tools/builtins.ts";
import type { PlanMode, Capabilities, SideQueryModel } from "../tools/capabilities.ts";
import { reviewByQuestion } from "./session/plan-mode.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import type { ServerAllowRules } from "./mcp/connect.ts";
import type { ResolvedAgentOptions } from "./options.ts";
import type { SessionWork } from "./session/work.ts";
import { TaskRegistry } from "./tasks/task-registry.ts";
import { createActivateSkillTool } from "./skills/activate-tool.ts";
import type { SessionSkills } from "./skills/session-skills.ts";
import { createTaskTool, type RunTask } from "./subagents/task-tool.ts";
import { createWaitTool } from "./mcp/wait-tool.ts";

/** The tools of a session, and the services behind them. */
export type Toolbox = {
  readonly scheduler: Scheduler;
  /** Creates another scheduler for some of the tools, behind the same permission gate. */
  readonly schedulerFor: (tools: readonly string[], hooks?: CallHooks) => Scheduler;
  readonly services: OpenServices;
  /** Does ahead what only some calls need. */
  readonly warmUp: () => Promise<void>;
  /** Removes temporary files that killed programs left in the workspace. */
  readonly removeLeftovers: (signal: AbortSignal) => Promise<void>;
};

/** Options of a toolbox. */
export type ToolboxOptions = {
  readonly options: ResolvedAgentOptions;
  readonly sessionId: string;
  readonly model: SideQueryModel;
  readonly agents: readonly SubagentDefinition[];
  /** The skills of the session; undefined if it has none. */
  readonly skills: SessionSkills | undefined;
  /** The folders of plugins, which tools may read, and their permission rules. */
  readonly plugins: Pick<SessionPlugins, "folders" | "rules"> | undefined;
  readonly servers: McpServers | undefined;
  /** Permission rules that allow tools of MCP servers. */
  readonly allow: ServerAllowRules;
  /** The permission rules of the session. */
  readonly sessionRules: SessionRules;
  /** The to-do list and the background tasks of the session. Subagents have neither. */
  readonly work: SessionWork;
  /** Hooks around the calls of the session. */
  readonly hooks?: CallHooks | undefined;
  /** Creates the function that runs subagents. It is called with the toolbox, since subagents use it too. */
  readonly createRunTask: (toolbox: Pick<Toolbox, "schedulerFor">) => RunTask;
};

/** Opens the tools of a session behind its permission gate. */
export const openToolbox = async ({
  options,
  sessionId,
  model,
  agents,
  skills,
  plugins,
  servers,
  allow,
  sessionRules,
  work,
  hooks,
  createRunTask,
}: ToolboxOptions): Promise<Toolbox> => {
  const { world, home, folder, loaded, interactive, sandbox, approve } = options;
  const { settings, policy } = loaded;
  const toolTime = 1000 * settings["limits.toolTime"];
  const services = await openServices({
    world,
    roots: [folder, ...settings["context.includeDirectories"]],
    home,
    session: sessionId,
    mode: policy.mode,
    rules: {
      ...policy.rules,
      commandLine: {
        ...policy.rules.commandLine,
        allow: [...(policy.rules.commandLine?.allow ?? []), ...allow.commandLine],
      },
      plugins: plugins?.rules,
      settings: { ...policy.rules.settings, allow: [...(policy.rules.settings?.allow ?? []), ...allow.settings] },
    },
    sessionRules,
    trusted: policy.trusted,
    readable: [
      ...(skills === undefined ? [] : skillFoldersOutside(folder, skills.current())),
      ...(plugins?.folders ?? []),
    ],
    interactive: interactive || approve !== undefined,
    commandTimeoutMs: toolTime,
    model,
    ...(options.buffers === undefined ? {} : { buffers: options.buffers }),
    ...(options.watchCommand === undefined ? {} : { watchCommand: options.watchCommand }),
    ...(options.hiddenFolders === undefined ? {} : { hiddenFolders: options.hiddenFolders }),
    ...(options.scratch === undefined ? {} : { scratch: options.scratch }),
    ...(sandbox === undefined ? {} : { sandbox, sandboxNetwork: settings.sandboxNetwork === "on" }),
  });
  const shared = {
    gate: services.gate,
    capabilities: services.capabilities,
    redactor: services.redactor,
    clock: world.clock,
    limits: { processes: settings["limits.processes"], toolTime },
  };
  const isChosen = ({ name }: AnyTool): boolean => options.builtinTools?.includes(name) ?? true;
  const skillTools = skills === undefined ? [] : [createActivateSkillTool(skills.current, sessionId)];
  const tools = [...[...builtinTools, ...skillTools].filter(isChosen), ...(options.tools ?? [])];
  const schedulerFor = (names: readonly string[], agentHooks?: CallHooks): Scheduler => {
    const registry = withServers(tools, servers);
    const find = (name: string): RegisteredTool | undefined => (names.includes(name) ? registry.find(name) : undefined);
    return createScheduler({ ...shared, hooks: agentHooks, tools: { find, names: () => names } });
  };
  const sessionCapabilities: Pick<Capabilities, "todos" | "askUser" | "planMode" | "tasks"> = {
    todos: { replace: (todos) => work.replaceTodos(todos) },
    tasks: work.openTasks((given) => new TaskRegistry({ ...given, clock: world.clock })),
    ...(options.askUser === undefined ? {} : { askUser: options.askUser }),
    planMode: createPlanMode(options, services.gate),
  };
  const waitTools = servers === undefined ? [] : [createWaitTool(servers)];
  const task = createTaskTool(agents, createRunTask({ schedulerFor }));
  return {
    schedulerFor,
    services,
    warmUp: services.prepareCommands,
    removeLeftovers: (signal) => removeStaleTemporaryFiles(world, services.workspace.roots, signal),
    scheduler: createScheduler({
      ...shared,
      hooks,
      tools: withServers([...tools, ...[task].filter(isChosen), ...waitTools], servers),
      capabilities: (grant) => ({ ...services.capabilities(grant), ...sessionCapabilities }),
    }),
  };
};

/** Plan mode of a session: an approved plan begins the approval mode the user chose. */
const createPlanMode = ({ askUser, reviewPlan }: ToolboxOptions["options"], gate: OpenServices["gate"]): PlanMode => {
  const review = reviewPlan ?? (askUser && reviewByQuestion(askUser));
  const isOn = (): boolean => gate.mode() === "plan";
  if (review === undefined) return { isOn };
  return {
    isOn,
    review: async (plan, signal) => {
      const answer = await review(plan, signal);
      if (answer.type === "approved" && isOn()) gate.setMode(answer.mode);
      return answer;
    },
  };
};

const skillFoldersOutside = (workspace: string, skills: readonly Skill[]): readonly string[] =>
  [...new Set(skills.map(({ root }) => root))].filter((root) => !isInside(root, workspace));

/** A registry of our tools, and of those MCP servers offer at the moment of a call. */
const withServers = (tools: readonly AnyTool[], servers: McpServers | undefined): ToolRegistry => {
  const own = createRegistry(tools);
  if (servers === undefined) return own;
  return {
    find: (name) => own.find(name) ?? servers.find(name),
    names: () => [...own.names(), ...servers.names()],
  };
};
