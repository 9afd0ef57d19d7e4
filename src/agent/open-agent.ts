import { text as textPart } from "../conversation/builders.ts";
import type { Blobs } from "../conversation/entry.ts";
import type { McpServers } from "../mcp/servers.ts";
import type { PolicyOptions } from "../policy/open-policy.ts";
import type { Workspace } from "../policy/workspace/open.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Session } from "../session/session.ts";
import { openSessionStore } from "../session/store/store.ts";
import type { LoadedSettings } from "../settings/load/load.ts";
import type { Settings } from "../settings/schema/values.ts";
import { declarationsForPlatform } from "../tools/declarations.ts";
import { createRequestSigner } from "../transport/credentials/request-signer.ts";
import type { RetryPolicy } from "../transport/retry/policy.ts";
import { openTransport } from "../transport/transport.ts";
import type { Disk } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import type { SubagentDefinition } from "./subagents/agent-file.ts";
import { createAgent, type Agent } from "./agent.ts";
import { runSideQuery, textQuery } from "./requests/side-query.ts";
import type { ConfirmContinue } from "./requests/model-request.ts";
import type { PromptAttachments } from "./session/mentions.ts";
import { startSession, lastUsedPool, type StartedSession } from "./session/create.ts";
import { chooseModel, type ModelChoice } from "./models/choose.ts";
import { connectServers } from "./mcp/connect.ts";
import type { AgentEvent } from "./events.ts";
import type { FetchFile } from "./requests/fetch-media.ts";
import { ModelInputRegistry } from "./models/input.ts";
import { modelName, type ModelRef } from "./models/name.ts";
import { createModelCapability } from "./requests/model-capability.ts";
import { findSubagents } from "./subagents/find.ts";
import type { ServerRequestHandlers } from "./mcp/server-requests.ts";
import { hasUnknownTools, syncServerTools } from "./mcp/tool-sync.ts";
import { SpendingTracker } from "./models/spending.ts";
import { SubagentRunner } from "./subagents/run.ts";
import { declareTaskTool } from "./subagents/task-declaration.ts";
import type { Toolbox } from "./toolbox.ts";
import { waitDeclaration } from "./mcp/wait-declaration.ts";

/** What a session is opened with. */
export type OpenAgentOptions = {
  readonly world: World;
  /** Where Parley keeps its own things. */
  readonly home: string;
  /** The project's folder. */
  readonly folder: string;
  readonly loaded: LoadedSettings;
  /** Whether somebody is there to answer questions. */
  readonly interactive: boolean;
  /** A session to go on with: its id, or the last one of this project. Without it, a new one. */
  readonly resume?: { readonly id: string } | "last";
  /** Replaces the system prompt. */
  readonly system?: string;
  /** Whether a sandbox is required, not only wanted. */
  readonly sandbox?: PolicyOptions["sandbox"];
  /** MCP servers for this run alone, as the person wrote them. */
  readonly servers?: unknown;
  /** How MCP servers reach the person; where it is absent they are told that nobody is there. */
  readonly serverRequests?: ServerRequestHandlers;
  /** Asks the person whether a model that repeats itself should continue; where it is absent, such a model is stopped. */
  readonly confirm?: ConfirmContinue;
  readonly onEvent?: (event: AgentEvent) => void;
  /** Says at once what the person should know while the session opens. */
  readonly onProgress?: (text: string) => void;
};

/** A session, ready for the first word. */
export type AgentSession = {
  readonly agent: Agent;
  readonly session: Session;
  readonly modelChoice: ModelChoice;
  /** What the person should know before the first word. */
  readonly notes: readonly string[];
  /** Those of the notes that must not be overlooked. */
  readonly warnings?: readonly string[] | undefined;
  /** The agents that can be given work. */
  readonly agents: readonly SubagentDefinition[];
  readonly servers: McpServers | undefined;
  /** A message with the files it mentions. */
  readonly attach: (message: string, signal: AbortSignal) => Promise<Pick<PromptAttachments, "parts" | "messages">>;
  /** Takes in files that the next message brings along. */
  readonly addBlobs: (blobs: Blobs) => void;
  /** What stands behind the tools: the gate, the files. Opened when first needed. */
  readonly services: () => Promise<OpenServices>;
  readonly close: () => Promise<void>;
};

/** Opens a session in a project, new or continued. All front ends begin here. */
export const openAgent = async (given: OpenAgentOptions): Promise<AgentSession> => {
  const { world, home, loaded, resume } = given;
  const folder = (await world.disk.canonicalPath(given.folder)) ?? given.folder;
  const options = { ...given, folder };
  const { settings } = loaded;
  const chosen = await chooseModel(settings, world.env);
  const sessions = openSessionStore(world, { home });
  const inputs = new ModelInputRegistry(settings.models, async ({ provider, model }, signal) => {
    const { findModelInput } = await import("../transport/queries/model-input.ts");
    return findModelInput(provider, model, world, signal);
  });
  const transport = openTransport({
    world,
    signer: createRequestSigner(world),
    retryPolicy: timeoutsFrom(settings),
    inputOf: (model) => inputs.get(model),
  });
  const named = await findSubagents({
    disk: world.disk,
    home,
    userHome: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });
  const builtin = [...declarationsForPlatform(world.host.platform), declareTaskTool(named.agents)];
  // Without a person at the keyboard nothing competes with the first request.
  const { promise: firstRequest, resolve: leaves } = createDeferred<void>();
  const { promise: working, resolve: begins } = createDeferred<Agent>();
  const over = new AbortController();
  if (options.interactive) leaves();
  const {
    servers,
    allow,
    notes: connecting,
  } = await connectServers(options, [...builtin, waitDeclaration], { after: firstRequest, agent: working });
  const own = hasUnknownTools(servers) ? [...builtin, waitDeclaration] : builtin;
  const {
    session,
    prefix: head,
    notes,
    journal,
    warnings,
  }: StartedSession = resume === undefined
    ? await startSession(options, sessions, { chosen, tools: [...own, ...(servers?.declarations() ?? [])] })
    : await (await import("./session/resume.ts")).resumeAgentSession(sessions, resume, folder);
  if (resume !== undefined) inputs.restore(session.inputs ?? {}, journal.ledger.entries);
  const isFree = settings.model === undefined && resume !== undefined;
  const pool = isFree ? await lastUsedPool(session, chosen) : chosen.pool;
  const subagents = new SubagentRunner();
  const spending = new SpendingTracker();
  const shared = {
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
    contextOf: (model: ModelRef) => settings.models[modelName(model)]?.context,
    modelInputs: inputs,
    fetchFile: (async (url, given) => (await services()).fetchFile(url, given)) satisfies FetchFile,
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
  };
  let toolbox: Promise<Toolbox> | undefined;
  let cleaning: Promise<void> | undefined;
  const services = async (): Promise<OpenServices> => (await (toolbox ??= openTools())).services;
  const openTools = async (): Promise<Toolbox> => {
    const { openToolbox } = await import("./toolbox.ts");
    const opened = await openToolbox({
      options: options,
      sessionId: session.id,
      agents: named.agents,
      servers,
      allow,
      model: createModelCapability(world, session.id, (prompt, signal) =>
        runSideQuery(transport, agent.model(), textQuery(prompt), signal),
      ),
      createRunTask: ({ schedulerFor }) =>
        subagents.createTaskRunner({
          ...shared,
          open: options,
          tools: head.tools,
          schedulerFor,
          model: agent.model,
          spending,
          spend: settings["limits.spend"],
          turns: settings["limits.maxTurns"],
          emit: agent.emit,
        }),
    });
    // Such as that there is no sandbox.
    for (const text of opened.services.notes) agent.emit({ type: "notice", text });
    return opened;
  };
  const agent: Agent = createAgent({
    ...shared,
    sessionId: session.id,
    journal,
    prefix: head,
    pool,
    subagents: subagents.running,
    spending,
    limits: {
      ...(settings["limits.maxTurns"] === undefined ? {} : { turns: settings["limits.maxTurns"] }),
      ...(settings["limits.spend"] === undefined ? {} : { spend: settings["limits.spend"] }),
    },
    openScheduler: async () => {
      const { scheduler, removeLeftovers } = await (toolbox ??= openTools());
      cleaning ??= removeLeftovers(over.signal);
      return scheduler;
    },
    ...(servers === undefined
      ? {}
      : syncServerTools(servers, { prefix: head, own, journal, emit: (event) => agent.emit(event) })),
    onEvent: (event) => {
      // A request is told of just before it is written: what comes of it, or a moment's silence, says that it is out.
      if (event.type === "request" && servers !== undefined)
        void world.clock.sleep(serverStartDelayMs, over.signal).then(leaves, () => undefined);
      if (event.type === "text" || event.type === "thought") leaves();
      options.onEvent?.(event);
    },
  });
  begins(agent);
  const releaseConnections = world.net.acquire?.();
  return {
    agent,
    session,
    modelChoice: { by: pool === chosen.pool ? chosen.by : "named", pool },
    notes: [...homeFolderWarning(folder, world.host.home), ...loaded.warnings, ...notes, ...named.notes, ...connecting],
    warnings,
    agents: named.agents,
    servers,
    attach: async (message, signal) => {
      if (!message.includes("@")) return { parts: [textPart(message)], messages: [] };
      const files = async (): Promise<{ disk: Disk; workspace: Workspace }> => ({
        disk: world.disk,
        workspace: (await services()).workspace,
      });
      const {
        parts,
        blobs,
        messages: told,
      } = await (await import("./session/mentions.ts")).resolveMentions(message, files, signal, servers);
      journal.addBlobs(blobs);
      return { parts, messages: told };
    },
    addBlobs: (blobs) => journal.addBlobs(blobs),
    services,
    close: async () => {
      over.abort();
      try {
        await servers?.close();
        await cleaning;
        await (await toolbox?.catch(() => undefined))?.services.close();
        await session.close();
      } finally {
        releaseConnections?.();
      }
    },
  };
};

/** How long a request may take to be written, in milliseconds, before servers are started beside it. */
const serverStartDelayMs = 200;

const createDeferred = <Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } => {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
};

/** How long an answer may take, in the terms of the transport. */
const timeoutsFrom = (settings: Settings): Pick<RetryPolicy, "idle" | "whole"> => ({
  idle: 1000 * settings["limits.idleTime"],
  whole: 1000 * settings["limits.answerTime"],
});

/** A warning where the workspace is the home folder or holds it. */
const homeFolderWarning = (folder: string, home: string): readonly string[] =>
  folder === home || folder === "/" || home.startsWith(`${folder}/`)
    ? [
        `The workspace is ${folder}, which holds your home folder: the model can read and change what is in it. Known places with keys, such as ~/.ssh, are left out. Start Parley in a project instead.`,
      ]
    : [];
