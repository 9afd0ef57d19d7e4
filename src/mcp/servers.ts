import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Rule } from "../policy/rules.ts";
import type { ToolContent } from "../tools/tool.ts";
import type { World } from "../world/world.ts";
import type { Asking } from "./asking.ts";
import type { OfferedPrompt, OfferedResource } from "./catalog.ts";
import { shownReach, type ServerConfig } from "./config.ts";
import { ServerFailure } from "./failure.ts";
import { Offer, type Changes, type ServerTool } from "./offer.ts";
import { readPrompt, readResource, type PromptMessage, type Reading } from "./reading.ts";
import { resourceTools } from "./resource-tools.ts";
import { Server, type ServerOptions, type ServerState } from "./server.ts";

export type ServersOptions = Pick<ServerOptions, "lookup"> & {
  readonly world: World;
  readonly configs: readonly ServerConfig[];
  /** The folder servers start in. */
  readonly root: string;
  /** Names no tool of a server may have. */
  readonly reserved?: readonly string[];
  readonly asking?: Asking;
  /** Whether a project's server may be started, as it is written now. Without this, none is. */
  readonly consent?: (config: ServerConfig) => Promise<boolean>;
  /** The folder of Parley's own things. With it, tools are offered at once as they were the last time, and sign-ins are kept. */
  readonly home?: string;
  readonly startTime?: number;
  /**
   * When to begin. What servers need takes long to load; whoever has something more urgent to do, such as a first
   * request, has them wait for it. What they offered the last time is there all the same.
   */
  readonly after?: Promise<unknown>;
  /** Whether servers of which nothing is remembered start at once, whatever `after` says. */
  readonly startsUnknownAtOnce?: boolean;
};

/** Something that happened to a server. */
export type ServersEvent =
  | { readonly type: "server-changed"; readonly server: ServerStatus }
  | { readonly type: "server-log"; readonly server: string; readonly level: string; readonly text: string };

/** A server, for people. */
export type ServerStatus = {
  readonly name: string;
  readonly from: ServerConfig["from"];
  /** What is started or reached, all of it. */
  readonly reach: string;
  readonly status: ServerState;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  /** What it wants models to know. */
  readonly instructions: string;
  /** What of it is not offered, and why. */
  readonly left: readonly string[];
};

/** The servers of one session. They connect by themselves; nobody waits for them who does not want to. */
export type Servers = {
  readonly status: () => readonly ServerStatus[];
  readonly listen: (listener: (event: ServersEvent) => void) => () => void;
  /** Takes over what came, went and changed since the last time. Called between turns: it costs the prompt cache. */
  readonly takeChanges: () => readonly Changes[];
  /** The tools as they were taken over last; the same until the next time. */
  readonly tools: () => readonly ServerTool[];
  readonly find: (name: string) => ServerTool | undefined;
  readonly names: () => readonly string[];
  readonly declarations: () => readonly ToolDeclaration[];
  /** Waits until it is known what every server offered the last time; that asks nobody. */
  readonly remembered: (signal: AbortSignal) => Promise<void>;
  /** Waits until every server, or every one of these, is ready or has failed once. */
  readonly settled: (signal: AbortSignal, names?: readonly string[]) => Promise<void>;
  /** The names of servers of which nothing is known yet: never seen before, and still connecting. */
  readonly unknown: () => readonly string[];
  readonly resources: () => readonly (OfferedResource & { readonly server: string; readonly isTemplate: boolean })[];
  readonly readResource: (server: string, uri: string, asking: Reading) => Promise<readonly ToolContent[]>;
  /** What `@server:uri` stands for; undefined where no server has that name. */
  readonly mention: (mention: string, asking: Reading) => Promise<readonly ToolContent[] | undefined>;
  /** Prompts as commands: `/server:prompt`. */
  readonly prompts: () => readonly (OfferedPrompt & { readonly server: string; readonly command: string })[];
  readonly prompt: (
    server: string,
    name: string,
    given: JsonObject,
    asking: Reading,
  ) => Promise<readonly PromptMessage[]>;
  /** Tells every server that the workspace has other folders now. */
  readonly rootsChanged: () => Promise<void>;
  /** Starts a server again, after it failed or after a sign-in. */
  readonly restart: (name: string) => void;
  /** Ends all of them, and every process they started. */
  readonly close: () => Promise<void>;
};

const usualStartTime = 60_000;

/** Opens servers, and comes back at once. */
export const openServers = (options: ServersOptions): Servers => {
  const {
    world,
    configs,
    root,
    reserved = [],
    asking = {},
    consent = async () => false,
    startTime = usualStartTime,
  } = options;
  const listeners = new Set<(event: ServersEvent) => void>();
  const tell = (event: ServersEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const servers = new Map<string, Server>();
  for (const config of configs)
    servers.set(
      config.name,
      new Server({
        world,
        config,
        root,
        asking,
        startTime,
        consent,
        home: options.home,
        after: options.after ?? Promise.resolve(),
        startsUnknownAtOnce: options.startsUnknownAtOnce ?? false,
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
        changed: () => {
          const server = servers.get(config.name);
          if (server !== undefined) tell({ type: "server-changed", server: statusOf(server) });
        },
        log: (level, text) => tell({ type: "server-log", server: config.name, level, text }),
      }),
    );
  const all = [...servers.values()];
  const named = (name: string): Server => {
    const server = servers.get(name);
    if (server === undefined) throw new ServerFailure("refused", `There is no MCP server ${JSON.stringify(name)}.`);
    return server;
  };
  const resources: Servers["resources"] = () =>
    all.flatMap(({ server, catalog }) => [
      ...catalog.resources.map((resource) => ({ ...resource, server, isTemplate: false })),
      ...catalog.templates.map((resource) => ({ ...resource, server, isTemplate: true })),
    ]);
  const read: Servers["readResource"] = (name, uri, how) => readResource(named(name), uri, how);
  const offer = new Offer(reserved, resourceTools({ resources, read, names: () => [...servers.keys()] }));
  for (const server of all) server.start();
  return {
    status: () => all.map(statusOf),
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    takeChanges: () => offer.take(all),
    tools: () => offer.tools(),
    find: (name) => offer.find(name),
    names: () => offer.tools().map(({ tool }) => tool.name),
    declarations: () => offer.declarations(),
    remembered: async (signal) => void (await Promise.all(all.map((server) => server.remembered(signal)))),
    settled: async (signal, names) => {
      const some = names === undefined ? all : names.map(named);
      await Promise.all(some.map((server) => server.settled(signal)));
    },
    unknown: () =>
      all.flatMap(({ server, isKnown, state }) => (isKnown || state.state !== "connecting" ? [] : [server])),
    resources,
    readResource: read,
    mention: async (mention, how) => {
      const server = all.find((each) => mention.startsWith(`${each.server}:`));
      return server && readResource(server, mention.slice(server.server.length + 1), how);
    },
    prompts: () =>
      all.flatMap(({ server, catalog }) =>
        catalog.prompts.map((prompt) => ({ ...prompt, server, command: `${server}:${prompt.name}` })),
      ),
    prompt: (name, prompt, given, how) => readPrompt(named(name), prompt, given, how),
    rootsChanged: async () => void (await Promise.all(all.map(async ({ live }) => live?.tellRootsChanged()))),
    restart: (name) => named(name).start(),
    close: async () => void (await Promise.all(all.map((server) => server.close()))),
  };
};

const statusOf = (server: Server): ServerStatus => ({
  name: server.server,
  from: server.config.from,
  reach: server.redact(shownReach(server.config.reach)),
  status: server.state,
  tools: server.catalog.tools.length,
  resources: server.catalog.resources.length + server.catalog.templates.length,
  prompts: server.catalog.prompts.length,
  instructions: server.live?.instructions ?? "",
  left: server.catalog.left,
});

/** The rules that let the tools of trusted servers run unasked, for the person's settings. */
export const trustRules = (configs: readonly ServerConfig[]): readonly Rule[] =>
  configs.flatMap(({ name, trust }) => (trust ? [{ type: "server", name }] : []));
