import { join } from "node:path";
import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { SessionPlugins } from "../../extensions/plugins/session.ts";
import type { Session } from "../../session/session.ts";
import { projectFolderName } from "../../session/store/project-folder.ts";
import type { Agent } from "../agent.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent } from "../events.ts";
import type { SessionHooks } from "../hooks/session-hooks.ts";
import { LazyToolbox } from "../lazy-toolbox.ts";
import type { ConnectedServers } from "../mcp/connect.ts";
import { ServerStartGate } from "../mcp/start-gate.ts";
import { syncServerTools } from "../mcp/tool-sync.ts";
import { modelName } from "../models/name.ts";
import type { ModelPool } from "../models/router.ts";
import { SpendingTracker } from "../models/spending.ts";
import type { ResolvedAgentOptions, SharedAgentOptions } from "../options.ts";
import type { FetchFile } from "../requests/fetch-media.ts";
import type { RestoredConsents } from "../session/consents.ts";
import type { StartedSession } from "../session/create.ts";
import { planModeNotices } from "../session/plan-mode.ts";
import { SessionWork } from "../session/work.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import type { SubagentDefinitions } from "../subagents/find.ts";
import { SubagentRunner } from "../subagents/run.ts";
import type { OutputCheck } from "../turn/output.ts";
import type { FoundHooks } from "./find-extensions.ts";
import type { OpenModels } from "./models.ts";
import { openSessionToolbox } from "./session-toolbox.ts";

/** Everything that is opened before the agent itself. */
export type SessionParts = {
  readonly options: ResolvedAgentOptions;
  readonly models: OpenModels;
  readonly plugins: SessionPlugins | undefined;
  readonly subagents: SubagentDefinitions;
  readonly skills: SessionSkills;
  readonly connected: ConnectedServers;
  /** The tools that are not of MCP servers. */
  readonly ownTools: readonly ToolDeclaration[];
  readonly started: StartedSession;
  readonly pool: ModelPool;
  /** The models to start with, if hooks decide about the switch to those of `pool`. */
  readonly earlierPool: ModelPool | undefined;
  readonly hooks: FoundHooks | undefined;
  readonly consents: RestoredConsents;
  readonly startGate: ServerStartGate;
  /** Aborted when the session closes. */
  readonly signal: AbortSignal;
};

export type AssembledAgent = {
  readonly agent: Agent;
  readonly toolbox: LazyToolbox;
  readonly work: SessionWork;
  readonly hooks: SessionHooks | undefined;
};

/** Creates the agent and its tools, which refer to each other: tools are opened by the agent's first calls. */
export const assembleAgent = (
  parts: SessionParts,
  {
    approver,
    output,
  }: { readonly approver: ((event: AgentEvent) => void) | undefined; readonly output: OutputCheck | undefined },
): AssembledAgent => {
  const { options, connected, ownTools, started, pool, startGate, signal } = parts;
  const { session, journal, prefix } = started;
  const { servers } = connected;
  const { "limits.maxTurns": turns, "limits.spend": spend } = options.loaded.settings;
  const subagents = new SubagentRunner();
  const spending = new SpendingTracker({ priceOf: (model) => options.loaded.settings.models[modelName(model)]?.price });
  const notices = [...(options.notices ?? [])];
  const work = new SessionWork({ session, journal, emit: (event) => agent.emit(event) });
  const toolbox: LazyToolbox = new LazyToolbox(
    () => openSessionToolbox(parts, { agent, shared, spending, subagents, work, hooks }),
    signal,
  );
  const { hooks: found } = parts;
  const hooks =
    found === undefined || found.hooks.length === 0
      ? undefined
      : found.createSessionHooks(options, found, {
          sessionId: session.id,
          transcriptPath: sessionLogPath(options, session),
          model: () => modelName(agent.model()),
          mode: () => toolbox.mode ?? options.loaded.policy.mode,
          services: () => toolbox.services(),
          emit: (event) => agent.emit(event),
        });
  const shared = sharedAgentOptions(parts, async (url, given) => (await toolbox.services()).fetchFile(url, given));
  const agent: Agent = createAgent({
    ...shared,
    sessionId: session.id,
    journal,
    prefix,
    pool: parts.earlierPool ?? pool,
    ...(output === undefined ? {} : { output }),
    subagents: subagents.running,
    hooks: hooks?.main,
    spending,
    limits: { ...(turns === undefined ? {} : { turns }), ...(spend === undefined ? {} : { spend }) },
    openScheduler: () => toolbox.scheduler(),
    warmUpTools: () => toolbox.warmUp(),
    takeNotices: () => [
      ...notices.splice(0),
      ...(work.tasks?.takeNotices() ?? []),
      ...(options.announcesPlanMode === false
        ? []
        : planModeNotices(journal.ledger.entries, toolbox.mode ?? options.loaded.policy.mode)),
    ],
    compactionNotice: () => work.todoNotice(),
    ...(servers === undefined
      ? {}
      : syncServerTools(servers, { prefix, own: ownTools, journal, emit: (event) => agent.emit(event) })),
    onEvent: (event) => {
      if (servers !== undefined) startGate.onEvent(event);
      options.onEvent?.(event);
      approver?.(event);
    },
  });
  hooks?.main.begin(options.resume === undefined ? "startup" : "resume", { signal, isEager: options.interactive });
  return { agent, toolbox, work, hooks: hooks?.main };
};

/** The path of the session log; empty if the session is not in a file. */
const sessionLogPath = ({ home, folder, isSaved, sessions }: ResolvedAgentOptions, { id }: Session): string =>
  isSaved === false || sessions !== undefined
    ? ""
    : join(home.data, "sessions", projectFolderName(folder), `${id}.jsonl`);

/** The options that subagents share with the agent. */
const sharedAgentOptions = (
  { options, models: { transport, inputs }, started: { session } }: SessionParts,
  fetchFile: FetchFile,
): SharedAgentOptions => {
  const { world, confirm } = options;
  const { settings } = options.loaded;
  return {
    clock: world.clock,
    transport,
    policy: { unsupportedMedia: settings.unsupportedMedia, toolResponse: settings.toolResponse },
    settings: {
      cache: { marks: true, key: session.id },
      ...(settings.thoughts ? { thoughts: true } : {}),
      ...(settings.thinking === undefined ? {} : { thinking: { effort: settings.thinking } }),
      ...(settings.maxOutputTokens === undefined ? {} : { maxTokens: settings.maxOutputTokens }),
    },
    compactAt: settings.compaction === "off" ? 0 : settings.compaction,
    modelSettings: (model) => settings.models[modelName(model)],
    modelInputs: inputs,
    fetchFile,
    ...(confirm === undefined ? {} : { confirm }),
  };
};

/** Creates the listener that answers approvals with the program's own function, if it has one. */
export const createApprover = async (
  { approve }: ResolvedAgentOptions,
  agent: Promise<Agent>,
  signal: AbortSignal,
): Promise<((event: AgentEvent) => void) | undefined> => {
  if (approve === undefined) return undefined;
  const { answerApprovals } = await import("../answer-approvals.ts");
  return answerApprovals(approve, agent, signal);
};
