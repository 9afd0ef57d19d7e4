import { text as textPart } from "../conversation/builders.ts";
import type { Blobs, ToolDeclaration } from "../conversation/entry.ts";
import type { McpServers } from "../mcp/servers.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Session } from "../session/session.ts";
import { openSessionStore } from "../session/store/store.ts";
import type { Settings } from "../settings/schema/values.ts";
import { declarationsForPlatform } from "../tools/declarations.ts";
import { createRequestSigner } from "../transport/credentials/request-signer.ts";
import type { RetryPolicy } from "../transport/retry/policy.ts";
import { openTransport, type Transport } from "../transport/transport.ts";
import type { Agent } from "./agent.ts";
import { createAgent } from "./create-agent.ts";
import { LazyToolbox } from "./lazy-toolbox.ts";
import { connectServers, type ConnectedServers } from "./mcp/connect.ts";
import { ServerStartGate } from "./mcp/start-gate.ts";
import { hasUnknownTools, syncServerTools } from "./mcp/tool-sync.ts";
import { waitDeclaration } from "./mcp/wait-declaration.ts";
import { chooseModel, type ModelChoice } from "./models/choose.ts";
import { ModelInputRegistry } from "./models/input.ts";
import { modelName } from "./models/name.ts";
import type { ModelPool } from "./models/router.ts";
import { SpendingTracker } from "./models/spending.ts";
import type { OpenAgentOptions, SharedAgentOptions } from "./options.ts";
import type { FetchFile } from "./requests/fetch-media.ts";
import { createModelCapability } from "./requests/model-capability.ts";
import { runSideQuery, textQuery } from "./requests/side-query.ts";
import { lastUsedPool, startSession, type StartedSession } from "./session/create.ts";
import type { PromptAttachments } from "./session/mentions.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import { findSubagents, type SubagentDefinitions } from "./subagents/find.ts";
import { SubagentRunner } from "./subagents/run.ts";
import { declareTaskTool } from "./subagents/task-declaration.ts";
import type { Toolbox } from "./toolbox.ts";

/** An open session and its agent. */
export type AgentSession = {
  readonly agent: Agent;
  readonly session: Session;
  readonly modelChoice: ModelChoice;
  /** Messages for the person, to be shown before the first prompt. */
  readonly notes: readonly string[];
  /** The most important of the notes. */
  readonly warnings?: readonly string[] | undefined;
  /** The subagents that tasks can be given to. */
  readonly agents: readonly SubagentDefinition[];
  readonly servers: McpServers | undefined;
  /** Resolves the mentions in a prompt to the files they name. */
  readonly attach: (message: string, signal: AbortSignal) => Promise<Pick<PromptAttachments, "parts" | "messages">>;
  /** Adds the blobs of media in the next prompt. */
  readonly addBlobs: (blobs: Blobs) => void;
  /** The services behind the tools, such as the permission gate and the workspace. Opened when first needed. */
  readonly services: () => Promise<OpenServices>;
  readonly close: () => Promise<void>;
};

/** Opens a session in a project, new or resumed, and its agent. All front ends start here. */
export const openAgent = async (given: OpenAgentOptions): Promise<AgentSession> => {
  const { world } = given;
  const options = { ...given, folder: (await world.disk.canonicalPath(given.folder)) ?? given.folder };
  const models = await openModels(options);
  const subagents = await findProjectSubagents(options);
  const closing = new AbortController();
  const startGate = new ServerStartGate(world.clock, closing.signal);
  // An interactive session starts servers at once: the person still has to write the first prompt.
  if (options.interactive) startGate.open();
  const ready = createDeferred<Agent>();
  const builtin = [...declarationsForPlatform(world.host.platform), declareTaskTool(subagents.agents)];
  const connected = await connectServers(options, [...builtin, waitDeclaration], {
    after: startGate.opened,
    agent: ready.promise,
  });
  const ownTools = hasUnknownTools(connected.servers) ? [...builtin, waitDeclaration] : builtin;
  const started = await startOrResume(options, models, [...ownTools, ...(connected.servers?.declarations() ?? [])]);
  const pool = await selectPool(options, models.choice, started.session);
  const parts = { options, models, subagents, connected, ownTools, started, pool, startGate, signal: closing.signal };
  const { agent, toolbox } = assembleAgent(parts);
  ready.resolve(agent);
  return toAgentSession(parts, agent, toolbox, closing);
};

/** Everything that is opened before the agent itself. */
type SessionParts = {
  readonly options: OpenAgentOptions;
  readonly models: OpenModels;
  readonly subagents: SubagentDefinitions;
  readonly connected: ConnectedServers;
  /** The tools that are not of MCP servers. */
  readonly ownTools: readonly ToolDeclaration[];
  readonly started: StartedSession;
  readonly pool: ModelPool;
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

const openModels = async ({ world, loaded: { settings } }: OpenAgentOptions): Promise<OpenModels> => {
  const inputs = new ModelInputRegistry(settings.models, async ({ provider, model }, signal) => {
    const { findModelInput } = await import("../transport/queries/model-input.ts");
    return findModelInput(provider, model, world, signal);
  });
  return {
    choice: await chooseModel(settings, world.env),
    inputs,
    transport: openTransport({
      world,
      signer: createRequestSigner(world),
      retryPolicy: timeoutsFrom(settings),
      inputOf: (model) => inputs.get(model),
    }),
  };
};

const findProjectSubagents = ({ world, home, folder, loaded }: OpenAgentOptions): Promise<SubagentDefinitions> =>
  findSubagents({
    disk: world.disk,
    home,
    userHome: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });

const startOrResume = async (
  options: OpenAgentOptions,
  { choice, inputs }: OpenModels,
  tools: readonly ToolDeclaration[],
): Promise<StartedSession> => {
  const { world, home, resume } = options;
  const sessions = openSessionStore(world, { home });
  if (resume === undefined) return startSession(options, sessions, { choice, tools });
  const { resumeAgentSession } = await import("./session/resume.ts");
  const resumed = await resumeAgentSession(sessions, resume, options);
  inputs.restore(resumed.session.inputs ?? {}, resumed.journal.ledger.entries);
  return resumed;
};

/** A resumed session continues with its last model unless settings or flags name one. */
const selectPool = async (
  { loaded: { settings }, resume }: OpenAgentOptions,
  choice: ModelChoice,
  session: Session,
): Promise<ModelPool> =>
  settings.model === undefined && resume !== undefined ? lastUsedPool(session, choice) : choice.pool;

type AssembledAgent = { readonly agent: Agent; readonly toolbox: LazyToolbox };

/** Creates the agent and its tools, which refer to each other: tools are opened by the agent's first calls. */
const assembleAgent = (parts: SessionParts): AssembledAgent => {
  const { options, connected, ownTools, started, pool, startGate, signal } = parts;
  const { session, journal, prefix } = started;
  const { servers } = connected;
  const { "limits.maxTurns": turns, "limits.spend": spend } = options.loaded.settings;
  const subagents = new SubagentRunner();
  const spending = new SpendingTracker();
  const toolbox: LazyToolbox = new LazyToolbox(
    () => openSessionToolbox(parts, { agent, shared, spending, subagents }),
    signal,
  );
  const shared = sharedAgentOptions(parts, async (url, given) => (await toolbox.services()).fetchFile(url, given));
  const agent: Agent = createAgent({
    ...shared,
    sessionId: session.id,
    journal,
    prefix,
    pool,
    subagents: subagents.running,
    spending,
    limits: { ...(turns === undefined ? {} : { turns }), ...(spend === undefined ? {} : { spend }) },
    openScheduler: () => toolbox.scheduler(),
    ...(servers === undefined
      ? {}
      : syncServerTools(servers, { prefix, own: ownTools, journal, emit: (event) => agent.emit(event) })),
    onEvent: (event) => {
      if (servers !== undefined) startGate.onEvent(event);
      options.onEvent?.(event);
    },
  });
  return { agent, toolbox };
};

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
};

const openSessionToolbox = async (
  { options, models: { transport }, subagents: { agents }, connected: { servers, allow }, started }: SessionParts,
  { agent, shared, spending, subagents }: ToolOwner,
): Promise<Toolbox> => {
  const { session, prefix } = started;
  const { settings } = options.loaded;
  const { openToolbox } = await import("./toolbox.ts");
  const toolbox = await openToolbox({
    options,
    sessionId: session.id,
    agents,
    servers,
    allow,
    model: createModelCapability(options.world, session.id, (prompt, signal) =>
      runSideQuery(transport, agent.model(), textQuery(prompt), signal),
    ),
    createRunTask: ({ schedulerFor }) =>
      subagents.createTaskRunner({
        ...shared,
        open: options,
        tools: prefix.tools,
        schedulerFor,
        model: agent.model,
        spending,
        spend: settings["limits.spend"],
        turns: settings["limits.maxTurns"],
        emit: agent.emit,
      }),
  });
  // For example that there is no sandbox.
  for (const text of toolbox.services.notes) agent.emit({ type: "notice", text });
  return toolbox;
};

const toAgentSession = (
  { options, models: { choice }, subagents, connected, started, pool }: SessionParts,
  agent: Agent,
  toolbox: LazyToolbox,
  closing: AbortController,
): AgentSession => {
  const { world, folder, loaded } = options;
  const { session, journal, notes, warnings } = started;
  const { servers } = connected;
  const releaseConnections = world.net.acquire?.();
  return {
    agent,
    session,
    modelChoice: { by: pool === choice.pool ? choice.by : "named", pool },
    notes: [
      ...homeFolderWarning(folder, world.host.home),
      ...loaded.warnings,
      ...notes,
      ...subagents.notes,
      ...connected.notes,
    ],
    warnings,
    agents: subagents.agents,
    servers,
    attach: async (message, signal) => {
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
