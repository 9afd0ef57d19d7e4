import { join } from "node:path";
import { text as textPart } from "../conversation/builders.ts";
import type { Blobs, ToolDeclaration } from "../conversation/entry.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { Skill } from "../context/skills/find.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { SessionPlugins } from "../extensions/plugins/session.ts";
import type { RestoredConsents } from "./session/consents.ts";
import type { McpServers } from "../mcp/servers.ts";
import { PolicyError } from "../policy/error.ts";
import { openTrustStore } from "../policy/trust/folders.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Session } from "../session/session.ts";
import { projectFolderName } from "../session/store/project-folder.ts";
import { openSessionStore } from "../session/store/store.ts";
import type { Settings } from "../settings/schema/values.ts";
import { declarationsForPlatform } from "../tools/declarations.ts";
import { toHomeFolders } from "../world/home-folders.ts";
import { createRequestSigner } from "../transport/credentials/request-signer.ts";
import type { RetryPolicy } from "../transport/retry/policy.ts";
import { openTransport, type Transport } from "../transport/transport.ts";
import type { Agent } from "./agent.ts";
import type { Answer } from "./ask.ts";
import type { AgentEvent } from "./events.ts";
import { createAgent } from "./create-agent.ts";
import { activateSkillDeclaration } from "./skills/declaration.ts";
import { openSessionSkills, type SessionSkills } from "./skills/session-skills.ts";
import type { LoadedHooks } from "./hooks/open.ts";
import type { SessionHooks } from "./hooks/session-hooks.ts";
import { LazyToolbox } from "./lazy-toolbox.ts";
import { connectServers, type ConnectedServers } from "./mcp/connect.ts";
import { ServerStartGate } from "./mcp/start-gate.ts";
import { hasUnknownTools, syncServerTools } from "./mcp/tool-sync.ts";
import { waitDeclaration } from "./mcp/wait-declaration.ts";
import { chooseModel, loadPool, singleModelPool, type ModelChoice } from "./models/choose.ts";
import { ModelInputRegistry } from "./models/input.ts";
import { modelName, type ModelRef } from "./models/name.ts";
import { readRecentModels } from "./models/recent.ts";
import type { ModelPool } from "./models/router.ts";
import { SpendingTracker } from "./models/spending.ts";
import type { OpenAgentOptions, ResolvedAgentOptions, SharedAgentOptions } from "./options.ts";
import type { FetchFile } from "./requests/fetch-media.ts";
import { createModelCapability } from "./requests/model-capability.ts";
import { runSideQuery, textQuery } from "./requests/side-query.ts";
import { planModeNotices } from "./session/plan-mode.ts";
import { SessionWork } from "./session/work.ts";
import { lastUsedPool, startSession, type StartedSession } from "./session/create.ts";
import type { PromptAttachments } from "./session/mentions.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import { findSubagents, type SubagentDefinitions } from "./subagents/find.ts";
import { SubagentRunner } from "./subagents/run.ts";
import { declareTaskTool } from "./subagents/task-declaration.ts";
import type { TaskRegistry } from "./tasks/task-registry.ts";
import type { Toolbox } from "./toolbox.ts";
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
  const consents = await restoreConsents(options, started);
  const opened = { options, models, plugins, subagents, skills, connected, ownTools, started, pool, hooks, consents };
  const parts = { ...opened, startGate, signal: closing.signal };
  const assembled = assembleAgent(parts, {
    approver: await createApprover(options, ready.promise, closing.signal),
    output,
  });
  ready.resolve(assembled.agent);
  return toAgentSession(parts, assembled, closing);
};

/** The permission rules the person added in earlier runs of the session. Without any, no code for them is loaded. */
const restoreConsents = async (options: ResolvedAgentOptions, { session }: StartedSession): Promise<RestoredConsents> =>
  session.consents === undefined
    ? { rules: [], notes: [] }
    : (await import("./session/consents.ts")).restoreConsents(options, session);

/** The code that runs hooks, and the hooks of the session. */
type FoundHooks = LoadedHooks & Pick<typeof import("./hooks/open.ts"), "createSessionHooks">;

/** Finds the hooks of the session. Without any, no code for them is loaded. */
const findHooks = async (
  options: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<FoundHooks | undefined> => {
  const { loaded, hooks } = options;
  const hasHooks =
    hooks !== undefined ||
    (plugins?.hooks ?? []).length > 0 ||
    Object.keys(loaded.settings.hooks).length > 0 ||
    loaded.project.consents.some(({ key }) => key === "hooks" || key.startsWith("hooks."));
  if (!hasHooks) return undefined;
  const { loadHooks, createSessionHooks } = await import("./hooks/open.ts");
  return { ...(await loadHooks(options, plugins?.hooks)), createSessionHooks };
};

/** Fills in the defaults. Front ends have loaded the settings already, so nothing is loaded for them here. */
const resolveOptions = async (given: OpenAgentOptions): Promise<ResolvedAgentOptions> => {
  const { loaded, world, home, folder } = given;
  const environment =
    loaded === undefined || world === undefined || home === undefined
      ? await (await import("./environment.ts")).loadAgentEnvironment(given)
      : { loaded, world, home: toHomeFolders(home), folder };
  const { settings } = environment.loaded;
  return {
    ...given,
    ...environment,
    interactive: given.interactive ?? false,
    folder: (await environment.world.disk.canonicalPath(environment.folder)) ?? environment.folder,
    ...(given.sandbox === undefined && (settings.sandbox || settings.sandboxNetwork === "off")
      ? { sandbox: "wanted" }
      : {}),
  };
};

const createOutput = async ({ output }: ResolvedAgentOptions): Promise<OutputCheck | undefined> =>
  output === undefined ? undefined : (await import("./turn/output.ts")).createOutputCheck(output);

/** The declarations of the tools that are not of MCP servers: built-in ones, then the program's own. */
const declareOwnTools = async (
  { world, tools = [], builtinTools: names }: ResolvedAgentOptions,
  agents: readonly SubagentDefinition[],
  skills: SessionSkills,
): Promise<readonly ToolDeclaration[]> => {
  const all = [
    ...declarationsForPlatform(world.host.platform),
    declareTaskTool(agents),
    ...(skills.current().some(({ isForModels }) => isForModels) ? [activateSkillDeclaration] : []),
  ];
  if (names === undefined && tools.length === 0) return all;
  const { declareProgramTools } = await import("./program-tools.ts");
  return declareProgramTools(all, { tools, names });
};

/** Everything that is opened before the agent itself. */
type SessionParts = {
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
  readonly hooks: FoundHooks | undefined;
  readonly consents: RestoredConsents;
  readonly startGate: ServerStartGate;
  /** Aborted when the session closes. */
  readonly signal: AbortSignal;
};

/** The model of a session, and the means to send requests to it. */
type OpenModels = {
  readonly choice: ModelChoice;
  readonly inputs: ModelInputRegistry;
  readonly transport: Transport;
};

const openModels = async ({
  world,
  home,
  model,
  localModel,
  loaded: { settings },
}: ResolvedAgentOptions): Promise<OpenModels> => {
  const inputs = new ModelInputRegistry(settings.models, async ({ provider, model }, signal) => {
    const { findModelInput } = await import("../transport/queries/model-input.ts");
    return findModelInput(provider, model, world, signal);
  });
  return {
    choice: await chooseModel(model === undefined ? settings : { ...settings, model }, world.env, {
      lastChoice: async () => (await readRecentModels(world, home.state))[0],
      localModel,
    }),
    inputs,
    transport: openTransport({
      world,
      signer: createRequestSigner(world),
      retryPolicy: timeoutsFrom(settings),
      inputOf: (model) => inputs.get(model),
    }),
  };
};

/** Loads the plugins the person added. Without any, nothing is loaded. */
const findPlugins = async ({ world, home, folder }: ResolvedAgentOptions): Promise<SessionPlugins | undefined> => {
  if ((await world.disk.canonicalPath(`${home.data}/plugins/installed.json`)) === undefined) return undefined;
  const { openSessionPlugins } = await import("../extensions/plugins/session.ts");
  return openSessionPlugins(world, { home: home.data, folder });
};

const findProjectSubagents = (
  { world, home, folder, loaded }: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<SubagentDefinitions> =>
  findSubagents({
    disk: world.disk,
    home: home.config,
    userHome: world.host.home,
    ...(plugins === undefined ? {} : { plugins: plugins.agents }),
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });

const findProjectSkills = (
  { world, home, folder, loaded, resume }: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<SessionSkills> =>
  openSessionSkills(
    {
      disk: world.disk,
      files: world.files,
      clock: world.clock,
      home: home.config,
      cacheFolder: home.cache,
      userHome: world.host.home,
      isTrusted: openTrustStore(world.disk, home.config).isTrusted,
      ...(plugins === undefined ? {} : { plugins: plugins.skills }),
      ...(loaded.policy.trusted ? { project: folder } : {}),
    },
    resume !== undefined,
  );

const startOrResume = async (
  options: ResolvedAgentOptions,
  { choice, inputs }: OpenModels,
  given: {
    readonly tools: readonly ToolDeclaration[];
    readonly skills: readonly Skill[];
    readonly plugins: SessionPlugins | undefined;
  },
): Promise<StartedSession> => {
  const { world, home, resume } = options;
  const sessions = options.sessions ?? openSessionStore(world, { home: home.data });
  if (resume === undefined) return startSession(options, sessions, { choice, ...given });
  const { resumeAgentSession } = await import("./session/resume.ts");
  const resumed = await resumeAgentSession(sessions, resume, options);
  inputs.restore(resumed.session.inputs ?? {}, resumed.journal.ledger.entries);
  return { ...resumed, notes: [...resumed.notes, ...describeLateTools(options, resumed)] };
};

/** A note for each tool of the program that the resumed session was created without. */
const describeLateTools = (
  { tools = [] }: ResolvedAgentOptions,
  { prefix }: Pick<StartedSession, "prefix">,
): readonly string[] =>
  tools
    .filter((tool) => !prefix.tools.some(({ name }) => name === tool.name))
    .map(({ name }) => `The model does not get the tool ${name}: a session keeps the tools it was created with.`);

/** A resumed session continues with its last model unless settings or flags name one. */
const selectPool = async (
  { loaded: { settings }, model = settings.model, resume }: ResolvedAgentOptions,
  choice: ModelChoice,
  session: Session,
): Promise<ModelPool> => (model === undefined && resume !== undefined ? lastUsedPool(session, choice) : choice.pool);

/** Creates the listener that answers approvals with the program's own function, if it has one. */
const createApprover = async (
  { approve }: ResolvedAgentOptions,
  agent: Promise<Agent>,
  signal: AbortSignal,
): Promise<((event: AgentEvent) => void) | undefined> => {
  if (approve === undefined) return undefined;
  const { answerApprovals } = await import("./answer-approvals.ts");
  return answerApprovals(approve, agent, signal);
};

type AssembledAgent = {
  readonly agent: Agent;
  readonly toolbox: LazyToolbox;
  readonly work: SessionWork;
  readonly hooks: SessionHooks | undefined;
};

/** Creates the agent and its tools, which refer to each other: tools are opened by the agent's first calls. */
const assembleAgent = (
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
  const spending = new SpendingTracker();
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
    pool,
    ...(output === undefined ? {} : { output }),
    subagents: subagents.running,
    hooks: hooks?.main,
    spending,
    limits: { ...(turns === undefined ? {} : { turns }), ...(spend === undefined ? {} : { spend }) },
    openScheduler: () => toolbox.scheduler(),
    takeNotices: () => [
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
    contextOf: (model) => settings.models[modelName(model)]?.context,
    modelInputs: inputs,
    fetchFile,
    ...(confirm === undefined ? {} : { confirm }),
  };
};

/** The agent that tools and subagents work for. */
type ToolOwner = {
  readonly agent: Agent;
  readonly shared: SharedAgentOptions;
  readonly spending: SpendingTracker;
  readonly subagents: SubagentRunner;
  readonly work: SessionWork;
  readonly hooks: ReturnType<FoundHooks["createSessionHooks"]> | undefined;
};

const openSessionToolbox = async (
  {
    options,
    models: { transport },
    subagents: { agents },
    skills,
    connected: { servers, allow },
    started,
    consents,
  }: SessionParts,
  { agent, shared, spending, subagents, work, hooks }: ToolOwner,
): Promise<Toolbox> => {
  const { session, prefix } = started;
  const { settings } = options.loaded;
  const { openToolbox } = await import("./toolbox.ts");
  const toolbox = await openToolbox({
    options,
    sessionId: session.id,
    agents,
    skills: skills.current().length === 0 ? undefined : skills,
    servers,
    allow,
    sessionRules: {
      initial: consents.rules,
      record: async (change) =>
        (await import("./session/consents.ts")).recordConsent(options, { session, journal: started.journal }, change),
    },
    work,
    hooks: hooks?.main.calls,
    model: createModelCapability(options.world, session.id, (prompt, signal) =>
      runSideQuery(transport, agent.model(), textQuery(prompt), signal),
    ),
    createRunTask: ({ schedulerFor }) =>
      subagents.createTaskRunner({
        ...shared,
        open: options,
        parentId: session.id,
        tools: prefix.tools,
        schedulerFor,
        model: agent.model,
        spending,
        spend: settings["limits.spend"],
        turns: settings["limits.maxTurns"],
        emit: agent.emit,
        hooksFor: hooks?.forSubagent,
      }),
  });
  // For example that there is no sandbox.
  for (const text of toolbox.services.notes) agent.emit({ type: "notice", text });
  return toolbox;
};

const toAgentSession = <Output>(
  {
    options,
    models: { choice },
    plugins,
    subagents,
    skills,
    connected,
    started,
    pool,
    hooks: found,
    consents,
  }: SessionParts,
  { agent, toolbox, work, hooks }: AssembledAgent,
  closing: AbortController,
): AgentSession<Output> => {
  const { world, folder, loaded } = options;
  const { session, journal, prefix, notes, warnings } = started;
  const { servers } = connected;
  const releaseConnections = world.net.acquire?.();
  return {
    agent,
    session,
    ask: async (input, signal) =>
      (await import("./ask.ts")).askAgent(agent, { input, hasOutput: options.output !== undefined }, signal),
    switchModel: async (model) => {
      const result = await agent.switchModel(
        typeof model === "string" ? await loadPool(model, loaded.settings.pools, world.env) : singleModelPool(model),
      );
      if (!result.isSwitched) throw new PolicyError("policy_violation", result.reason);
    },
    modelChoice: { by: pool === choice.pool ? choice.by : "named", pool },
    notes: [
      ...homeFolderWarning(folder, world.host.home),
      ...loaded.warnings,
      ...(choice.note === undefined || pool !== choice.pool ? [] : [choice.note]),
      ...notes,
      ...consents.notes,
      ...(plugins?.notes ?? []),
      ...subagents.notes,
      ...skills.notes,
      ...connected.notes,
      ...(found?.notes ?? []),
    ],
    warnings,
    contextFiles: started.contextFiles ?? [],
    agents: subagents.agents,
    skills: skills.current,
    plugins,
    servers,
    todos: () => work.todos,
    tasks: () => work.tasks,
    attach: async (message, signal) => {
      const change = await skills.refresh(() => ({
        system: prefix.system ?? "",
        entries: agent.conversation().entries,
      }));
      if (change !== undefined) agent.addNotice(change);
      if (!message.includes("@")) return { parts: [textPart(message)], messages: [] };
      const { resolveMentions } = await import("./session/mentions.ts");
      const { workspace } = await toolbox.services();
      const { parts, blobs, messages } = await resolveMentions(message, {
        disk: world.disk,
        workspace,
        servers,
        signal,
      });
      journal.addBlobs(blobs);
      return { parts, messages };
    },
    addBlobs: (blobs) => journal.addBlobs(blobs),
    services: () => toolbox.services(),
    close: async () => {
      closing.abort();
      try {
        await hooks?.end("other");
        await work.close();
        await servers?.close();
        await toolbox.close();
        await session.close();
      } finally {
        releaseConnections?.();
      }
    },
  };
};

const createDeferred = <Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } => {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
};

/** The timeouts of a response, as the transport takes them. */
const timeoutsFrom = (settings: Settings): Pick<RetryPolicy, "idle" | "whole"> => ({
  idle: 1000 * settings["limits.idleTime"],
  whole: 1000 * settings["limits.answerTime"],
});

/** A warning if the workspace is the home folder or contains it. */
const homeFolderWarning = (folder: string, home: string): readonly string[] =>
  folder === home || folder === "/" || home.startsWith(`${folder}/`)
    ? [
        `The workspace is ${folder}, which holds your home folder: the model can read and change what is in it. Known places with keys, such as ~/.ssh, are left out. Start Parley in a project instead.`,
      ]
    : [];
