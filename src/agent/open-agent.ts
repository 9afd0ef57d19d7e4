import type { Skill } from "../context/skills/find.ts";
import type { Blobs } from "../conversation/entry.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { SessionPlugins } from "../extensions/plugins/session.ts";
import type { McpServers } from "../mcp/servers.ts";
import { PolicyError } from "../policy/error.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Session } from "../session/session.ts";
import type { Agent } from "./agent.ts";
import type { Answer } from "./ask.ts";
import { connectServers } from "./mcp/connect.ts";
import { ServerStartGate } from "./mcp/start-gate.ts";
import { hasUnknownTools } from "./mcp/tool-sync.ts";
import { waitDeclaration } from "./mcp/wait-declaration.ts";
import type { ModelChoice } from "./models/choose.ts";
import { modelName, type ModelRef } from "./models/name.ts";
import type { ModelPool } from "./models/router.ts";
import { toAgentSession } from "./open/agent-session.ts";
import { assembleAgent, createApprover } from "./open/assemble-agent.ts";
import {
  findPlugins,
  findProjectSubagents,
  findProjectSkills,
  findHooks,
  declareOwnTools,
} from "./open/find-extensions.ts";
import { findEarlierPool, openModels, selectPool } from "./open/models.ts";
import { resolveOptions } from "./open/resolve-options.ts";
import { startOrResume, restoreConsents } from "./open/start-session.ts";
import type { OpenAgentOptions, ResolvedAgentOptions } from "./options.ts";
import type { PromptAttachments } from "./session/mentions.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import type { TaskRegistry } from "./tasks/task-registry.ts";
import type { OutputCheck } from "./turn/output.ts";

/** An open session and its agent. */
export type AgentSession<Output = unknown> = {
  readonly agent: Agent;
  readonly session: Session;
  /** Runs a turn and resolves with its answer, for programs that need no events. Rejects with a `TurnError`. */
  readonly ask: (input: string | readonly UserPart[], signal?: AbortSignal) => Promise<Answer<Output>>;
  /** Switches to another model from the next request on; it is named as in the options. */
  readonly switchModel: (model: string | ModelRef) => Promise<void>;
  readonly modelChoice: ModelChoice;
  /** Messages for the person, to be shown before the first prompt. */
  readonly notes: readonly string[];
  /** The most important of the notes. */
  readonly warnings?: readonly string[] | undefined;
  /** The context files in the system prompt. Empty for a resumed session, whose prompt is in its log. */
  readonly contextFiles: readonly string[];
  /** The subagents that tasks can be given to. */
  readonly agents: readonly SubagentDefinition[];
  /** The skills that can be activated. */
  readonly skills: () => readonly Skill[];
  /** The contributions of plugins; undefined if none was ever added. */
  readonly plugins: SessionPlugins | undefined;
  readonly servers: McpServers | undefined;
  /** The to-do list of the model; empty if it keeps none. */
  readonly todos: () => readonly TodoItem[];
  /** The commands and subagents in the background. Undefined as long as no tool was used. */
  readonly tasks: () => TaskRegistry | undefined;
  /** Resolves the mentions in a prompt to the files they name. */
  readonly attach: (message: string, signal: AbortSignal) => Promise<Pick<PromptAttachments, "parts" | "messages">>;
  /** Adds the blobs of media in the next prompt. */
  readonly addBlobs: (blobs: Blobs) => void;
  /** The services behind the tools, such as the permission gate and the workspace. Opened when first needed. */
  readonly services: () => Promise<OpenServices>;
  readonly close: () => Promise<void>;
};

/**
 * Opens a session in a folder, new or resumed, and its agent. Every program that runs an agent starts here, the command
 * line included. Throws a `SettingsError`, an `UnknownNameError`, a `SessionError` or a `PolicyError`, each with a
 * message for the person.
 */
export const openAgent = async <Output = unknown>(given: OpenAgentOptions<Output>): Promise<AgentSession<Output>> => {
  const options = await resolveOptions(given);
  const output = await createOutput(options);
  const { world } = options;
  const models = await openModels(options);
  const plugins = await findPlugins(options);
  const subagents = await findProjectSubagents(options, plugins);
  const closing = new AbortController();
  const startGate = new ServerStartGate(world.clock, closing.signal);
  // An interactive session starts servers at once: the person still has to write the first prompt.
  if (options.interactive) startGate.open();
  const ready = createDeferred<Agent>();
  const skills = await findProjectSkills(options, plugins);
  const builtin = await declareOwnTools(options, subagents.agents, skills);
  const connected = await connectServers(options, [...builtin, waitDeclaration], {
    after: startGate.opened,
    agent: ready.promise,
    plugins,
  });
  const ownTools = hasUnknownTools(connected.servers) ? [...builtin, waitDeclaration] : builtin;
  const tools = [...ownTools, ...(connected.servers?.declarations() ?? [])];
  const started = await startOrResume(options, models, {
    tools,
    skills: skills.current(),
    plugins,
  });
  const pool = await selectPool(options, models.choice, started.session);
  const hooks = await findHooks(options, plugins);
  const earlierPool =
    hooks?.watchesSwitches === true
      ? await findEarlierPool(options, { choice: models.choice, pool }, started.session)
      : undefined;
  const consents = await restoreConsents(options, started);
  const opened = { options, models, plugins, subagents, skills, connected, ownTools, started, hooks, consents };
  const parts = { ...opened, pool, earlierPool, startGate, signal: closing.signal };
  const assembled = assembleAgent(parts, {
    approver: await createApprover(options, ready.promise, closing.signal),
    output,
  });
  ready.resolve(assembled.agent);
  const session = toAgentSession<Output>(parts, assembled, closing);
  if (earlierPool !== undefined) await continueWith(pool, session);
  return session;
};

/** Switches a resumed session to the model it was opened with, as hooks decide. If they refuse, it is closed as it was. */
const continueWith = async (pool: ModelPool, { agent, close }: AgentSession): Promise<void> => {
  const last = modelName(agent.model());
  const result = await agent.switchModel(pool);
  if (result.isSwitched) return;
  await close();
  throw new PolicyError(
    "policy_violation",
    `The session was not opened, and stays with ${last}. ${result.reason} To continue it with its model: -m ${last}`,
  );
};

const createOutput = async ({ output }: ResolvedAgentOptions): Promise<OutputCheck | undefined> =>
  output === undefined ? undefined : (await import("./turn/output.ts")).createOutputCheck(output);

const createDeferred = <Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } => {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
};
