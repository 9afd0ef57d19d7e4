import type { PolicyOptions } from "../policy/services.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { openSessions, type Session, type Sessions } from "../session/index.ts";
import type { Loaded } from "../settings/load.ts";
import type { Asking } from "../mcp/asking.ts";
import type { Servers } from "../mcp/servers.ts";
import type { Workspace } from "../policy/workspace.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { AskModel } from "../tools/capabilities.ts";
import { declared } from "../tools/declared.data.ts";
import { openGate } from "../transport/credentials-gate.ts";
import { openTransport } from "../transport/transport.ts";
import type { Disk, World } from "../world/index.ts";
import { text as textPart, type Blobs, type ToolDeclaration, type UserPart } from "../conversation/index.ts";
import type { NamedAgent } from "./agent-file.ts";
import type { Attaching } from "./attaching.ts";
import { connectServers } from "./connecting.ts";
import { createAgent, type Agent, type AgentOptions } from "./agent.ts";
import { askAside, question, type Aside } from "./aside.ts";
import { chooseModel, single, type Chosen } from "./choose-model.ts";
import type { Head } from "./compositions.ts";
import type { AgentEvent } from "./events.ts";
import { Journal } from "./journal.ts";
import { loadModel, modelName, type ModelRef } from "./model-name.ts";
import { findAgents } from "./named-agents.ts";
import { openContext } from "./opening.ts";
import { Subagents } from "./subagents.ts";
import { taskDeclaration } from "./task-declaration.ts";
import { waitDeclaration } from "./wait-declaration.ts";
import type { Toolbox } from "./toolbox.ts";

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
  readonly asking?: Omit<Asking, "roots">;
  readonly listen?: (event: AgentEvent) => void;
};

/** A session, ready for the first word. */
export type Opened = {
  readonly agent: Agent;
  readonly session: Session;
  readonly chosen: Chosen;
  /** What the person should know before the first word. */
  readonly notes: readonly string[];
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
  const transport = openTransport({ world, gate: openGate(world) });
  const named = await findAgents({
    disk: world.disk,
    home,
    person: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });
  const builtin = [...declared, taskDeclaration(named.agents)];
  // Without a person at the keyboard nothing competes with the first request.
  const { promise: firstRequest, resolve: leaves } = withResolvers();
  if (options.interactive) leaves();
  const {
    servers,
    allow,
    notes: connecting,
  } = await connectServers(options, [...builtin, waitDeclaration], firstRequest);
  const own = isWaitedFor(servers) ? [...builtin, waitDeclaration] : builtin;
  const { session, head, notes, journal } =
    resume === undefined
      ? await begin(options, sessions, { chosen, tools: [...own, ...(servers?.declarations() ?? [])] })
      : await (await import("./resuming.ts")).resumed(sessions, resume, folder);
  const pool = settings.model === undefined && resume !== undefined ? await poolOf(session, chosen) : chosen.pool;
  const subagents = new Subagents();
  const shared = {
    clock: world.clock,
    transport,
    policy: { unsupportedMedia: settings.unsupportedMedia },
    settings: {
      cache: { marks: true, key: session.id },
      ...(settings.thinking === undefined ? {} : { thinking: { effort: settings.thinking } }),
    },
    compactAt: settings.compaction === "off" ? 0 : settings.compaction,
    contextOf: (model: ModelRef) => settings.models[modelName(model)]?.context,
  };
  let toolbox: Promise<Toolbox> | undefined;
  const openTools = async (): Promise<Toolbox> => {
    const { openToolbox } = await import("./toolbox.ts");
    return openToolbox({
      open: options,
      agents: named.agents,
      servers,
      allow,
      model: await modelsToAsk(world, (prompt, signal) => askAside(transport, agent.model(), question(prompt), signal)),
      doTask: ({ schedulerFor }) =>
        subagents.doing({
          ...shared,
          open: options,
          tools: head.tools,
          schedulerFor,
          model: agent.model,
          tell: agent.tell,
        }),
    });
  };
  const agent: Agent = createAgent({
    ...shared,
    journal,
    head,
    pool,
    subagents: subagents.working,
    limits: {
      ...(settings["limits.maxTurns"] === undefined ? {} : { turns: settings["limits.maxTurns"] }),
      ...(settings["limits.spend"] === undefined ? {} : { spend: settings["limits.spend"] }),
    },
    tools: async () => (await (toolbox ??= openTools())).scheduler,
    ...(servers === undefined ? {} : serving(servers, { head, own, journal, tell: (event) => agent.tell(event) })),
    listen: (event) => {
      if (event.type === "request") leaves();
      options.listen?.(event);
    },
  });
  const services = async (): Promise<OpenServices> => (await (toolbox ??= openTools())).services;
  return {
    agent,
    session,
    chosen: { ...chosen, pool },
    notes: [...loaded.warnings, ...notes, ...named.notes, ...connecting],
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
      await servers?.close();
      await (await toolbox?.catch(() => undefined))?.services.close();
      await session.close();
    },
  };
};

/** The models tools may ask: the one of the conversation, and Google's with its own tools where there is a key. */
const modelsToAsk = async (
  world: World,
  ask: (prompt: string, signal: AbortSignal) => Promise<Aside>,
): Promise<AskModel> => {
  const { askGrounded, findGrounding } = await import("../transport/grounding.ts");
  const google = await findGrounding(world);
  return {
    ask: async (prompt, signal) => (await ask(prompt, signal)).text,
    ...(google === undefined
      ? {}
      : { google: (prompt, tool, signal) => askGrounded(google, { prompt, tool }, world, signal) }),
  };
};

const withResolvers = (): { readonly promise: Promise<void>; readonly resolve: () => void } => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};

/** Whether there are servers of which nobody knows yet what they offer. */
const isWaitedFor = (servers: Servers | undefined): boolean =>
  servers?.status().some(({ status, tools }) => status.state === "connecting" && tools === 0) ?? false;

type Listed = {
  readonly head: Head;
  readonly own: readonly ToolDeclaration[];
  readonly journal: Journal;
  readonly tell: (event: AgentEvent) => void;
};

/**
 * Keeps the head of requests in step with the servers. Where one came, went or changed, that is written down and told;
 * a call of a tool nobody knows waits for servers that are still on their way.
 */
const serving = (servers: Servers, { head, own, journal, tell }: Listed): Pick<AgentOptions, "between" | "prepare"> => {
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

type Begun = {
  readonly session: Session;
  readonly journal: Journal;
  readonly head: Head;
  readonly notes: readonly string[];
};

/** A new session. What the model is told at its start is kept with it, and never made anew. */
const begin = async (
  options: OpenOptions,
  sessions: Sessions,
  { chosen, tools }: { readonly chosen: Chosen; readonly tools: Head["tools"] },
): Promise<Begun> => {
  const { system, environment, notes, root } = await openContext(options, tools);
  const [first] = chosen.pool.models;
  const session = await sessions.create({
    root,
    system,
    tools,
    ...(first === undefined ? {} : { model: { provider: first.provider.id, model: first.model } }),
    records: [{ kind: "entry", entry: { type: "notice", text: wordsIn(environment) } }],
  });
  return { session, journal: new Journal(session, session), head: { system, tools }, notes };
};

const wordsIn = (parts: readonly UserPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** The model a session was last used with stays, where nobody named another. */
const poolOf = async ({ model }: Session, { pool }: Chosen): Promise<Chosen["pool"]> => {
  if (model === undefined) return pool;
  try {
    return single(await loadModel(`${model.provider}/${model.model}`));
  } catch (error) {
    if (error instanceof UnknownNameError) return pool;
    throw error;
  }
};
