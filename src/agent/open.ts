import { text as textPart } from "../conversation/builders.ts";
import type { Blobs } from "../conversation/entry.ts";
import type { Servers } from "../mcp/servers.ts";
import type { PolicyOptions } from "../policy/services.ts";
import type { Workspace } from "../policy/workspace.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Session } from "../session/session.ts";
import { openSessions } from "../session/store.ts";
import type { Loaded } from "../settings/load.ts";
import type { Settings } from "../settings/values.ts";
import { declarationsFor } from "../tools/declarations.ts";
import { openGate } from "../transport/credentials-gate.ts";
import type { Patience } from "../transport/budget.ts";
import { openTransport } from "../transport/transport.ts";
import type { Disk } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import type { NamedAgent } from "./agent-file.ts";
import { createAgent, type Agent } from "./agent.ts";
import { askAside, question } from "./aside.ts";
import type { Confirm } from "./asking.ts";
import type { Attaching } from "./attaching.ts";
import { begin, lastPool, type Begun } from "./beginning.ts";
import { chooseModel, type Chosen } from "./choose-model.ts";
import { connectServers } from "./connecting.ts";
import type { AgentEvent } from "./events.ts";
import type { FetchFile } from "./fetch-media.ts";
import { ModelInputs } from "./model-input.ts";
import { modelName, type ModelRef } from "./model-name.ts";
import { modelsToAsk } from "./models-to-ask.ts";
import { findAgents } from "./named-agents.ts";
import type { ServerAsking } from "./server-asking.ts";
import { isWaitedFor, serving } from "./serving.ts";
import { Spending } from "./spending.ts";
import { Subagents } from "./subagents.ts";
import { taskDeclaration } from "./task-declaration.ts";
import type { Toolbox } from "./toolbox.ts";
import { waitDeclaration } from "./wait-declaration.ts";

/** What a session is opened with. */
export type OpenOptions = {
  readonly world: World;
  /** Where Parley keeps its own things. */
  readonly home: string;
  /** The project's folder. */
  readonly folder: string;
  readonly loaded: Loaded;
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
  readonly asking?: ServerAsking;
  /** Asks the person whether a model that repeats itself should continue; where it is absent, such a model is stopped. */
  readonly confirm?: Confirm;
  readonly listen?: (event: AgentEvent) => void;
  /** Says at once what the person should know while the session opens. */
  readonly say?: (text: string) => void;
};

/** A session, ready for the first word. */
export type Opened = {
  readonly agent: Agent;
  readonly session: Session;
  readonly chosen: Chosen;
  /** What the person should know before the first word. */
  readonly notes: readonly string[];
  /** Those of the notes that must not be overlooked. */
  readonly warnings?: readonly string[] | undefined;
  /** The agents that can be given work. */
  readonly agents: readonly NamedAgent[];
  readonly servers: Servers | undefined;
  /** A message with the files it mentions. */
  readonly attach: (message: string, signal: AbortSignal) => Promise<Pick<Attaching, "parts" | "told">>;
  /** Takes in files that the next message brings along. */
  readonly keep: (blobs: Blobs) => void;
  /** What stands behind the tools: the gate, the files. Opened when first needed. */
  readonly services: () => Promise<OpenServices>;
  readonly close: () => Promise<void>;
};

/** Opens a session in a project, new or continued. All front ends begin here. */
export const openAgent = async (given: OpenOptions): Promise<Opened> => {
  const { world, home, loaded, resume } = given;
  const folder = (await world.disk.canonical(given.folder)) ?? given.folder;
  const options = { ...given, folder };
  const { settings } = loaded;
  const chosen = await chooseModel(settings, world.env);
  const sessions = openSessions(world, { home });
  const inputs = new ModelInputs(settings.models, async ({ provider, model }, signal) => {
    const { findModelInput } = await import("../transport/model-input.ts");
    return findModelInput(provider, model, world, signal);
  });
  const transport = openTransport({
    world,
    gate: openGate(world),
    patience: patienceIn(settings),
    inputOf: (model) => inputs.of(model),
  });
  const named = await findAgents({
    disk: world.disk,
    home,
    person: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });
  const builtin = [...declarationsFor(world.host.platform), taskDeclaration(named.agents)];
  // Without a person at the keyboard nothing competes with the first request.
  const { promise: firstRequest, resolve: leaves } = pending<void>();
  const { promise: working, resolve: begins } = pending<Agent>();
  const over = new AbortController();
  if (options.interactive) leaves();
  const {
    servers,
    allow,
    notes: connecting,
  } = await connectServers(options, [...builtin, waitDeclaration], { after: firstRequest, agent: working });
  const own = isWaitedFor(servers) ? [...builtin, waitDeclaration] : builtin;
  const { session, head, notes, journal, warnings }: Begun =
    resume === undefined
      ? await begin(options, sessions, { chosen, tools: [...own, ...(servers?.declarations() ?? [])] })
      : await (await import("./resuming.ts")).resumed(sessions, resume, folder);
  if (resume !== undefined) inputs.resume(session.inputs ?? {}, journal.ledger.entries);
  const isFree = settings.model === undefined && resume !== undefined;
  const pool = isFree ? await lastPool(session, chosen) : chosen.pool;
  const subagents = new Subagents();
  const spending = new Spending();
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
    inputs,
    fetchFile: (async (url, given) => (await services()).fetchFile(url, given)) satisfies FetchFile,
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
  };
  let toolbox: Promise<Toolbox> | undefined;
  let cleaning: Promise<void> | undefined;
  const services = async (): Promise<OpenServices> => (await (toolbox ??= openTools())).services;
  const openTools = async (): Promise<Toolbox> => {
    const { openToolbox } = await import("./toolbox.ts");
    const opened = await openToolbox({
      open: options,
      session: session.id,
      agents: named.agents,
      servers,
      allow,
      model: modelsToAsk(world, session.id, (prompt, signal) =>
        askAside(transport, agent.model(), question(prompt), signal),
      ),
      doTask: ({ schedulerFor }) =>
        subagents.doing({
          ...shared,
          open: options,
          tools: head.tools,
          schedulerFor,
          model: agent.model,
          spending,
          spend: settings["limits.spend"],
          turns: settings["limits.maxTurns"],
          tell: agent.tell,
        }),
    });
    // Such as that there is no sandbox.
    for (const text of opened.services.notes) agent.tell({ type: "notice", text });
    return opened;
  };
  const agent: Agent = createAgent({
    ...shared,
    session: session.id,
    journal,
    head,
    pool,
    subagents: subagents.working,
    spending,
    limits: {
      ...(settings["limits.maxTurns"] === undefined ? {} : { turns: settings["limits.maxTurns"] }),
      ...(settings["limits.spend"] === undefined ? {} : { spend: settings["limits.spend"] }),
    },
    tools: async () => {
      const { scheduler, removeLeftovers } = await (toolbox ??= openTools());
      cleaning ??= removeLeftovers(over.signal);
      return scheduler;
    },
    ...(servers === undefined ? {} : serving(servers, { head, own, journal, tell: (event) => agent.tell(event) })),
    listen: (event) => {
      // A request is told of just before it is written: what comes of it, or a moment's silence, says that it is out.
      if (event.type === "request" && servers !== undefined)
        void world.clock.sleep(headStart, over.signal).then(leaves, () => undefined);
      if (event.type === "text" || event.type === "thought") leaves();
      options.listen?.(event);
    },
  });
  begins(agent);
  const releaseConnections = world.net.acquire?.();
  return {
    agent,
    session,
    chosen: { by: pool === chosen.pool ? chosen.by : "named", pool },
    notes: [...wideFolder(folder, world.host.home), ...loaded.warnings, ...notes, ...named.notes, ...connecting],
    warnings,
    agents: named.agents,
    servers,
    attach: async (message, signal) => {
      if (!message.includes("@")) return { parts: [textPart(message)], told: [] };
      const files = async (): Promise<{ disk: Disk; workspace: Workspace }> => ({
        disk: world.disk,
        workspace: (await services()).workspace,
      });
      const { parts, blobs, told } = await (await import("./attaching.ts")).attach(message, files, signal, servers);
      journal.keep(blobs);
      return { parts, told };
    },
    keep: (blobs) => journal.keep(blobs),
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
const headStart = 200;

const pending = <Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } => {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
};

/** How long an answer may take, in the terms of the transport. */
const patienceIn = (settings: Settings): Pick<Patience, "idle" | "whole"> => ({
  idle: 1000 * settings["limits.idleTime"],
  whole: 1000 * settings["limits.answerTime"],
});

/** A warning where the workspace is the home folder or holds it. */
const wideFolder = (folder: string, home: string): readonly string[] =>
  folder === home || folder === "/" || home.startsWith(`${folder}/`)
    ? [
        `The workspace is ${folder}, which holds your home folder: the model can read and change what is in it. Known places with keys, such as ~/.ssh, are left out. Start Parley in a project instead.`,
      ]
    : [];
