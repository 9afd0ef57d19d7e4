import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { PermissionRule } from "../policy/gate/permission-rules.ts";
import type { ToolContent } from "../tools/tool.ts";
import type { World } from "../world/world.ts";
import type { McpRequestHandlers } from "./requests/handlers.ts";
import type { OfferedPrompt, OfferedResource } from "./catalog.ts";
import { formatEndpoint, type McpServerConfig } from "./config/read-servers.ts";
import { McpServerError } from "./server-error.ts";
import { McpToolRegistry, type McpToolChanges, type McpTool } from "./tools/registry.ts";
import { readPrompt, readResource, type PromptMessage, type McpReadOptions } from "./resources-and-prompts.ts";
import { createResourceTools } from "./tools/resource-tools.ts";
import { McpServer, type McpServerOptions, type McpServerState } from "./server.ts";

export type McpServersOptions = Pick<McpServerOptions, "lookup"> & {
  readonly world: World;
  readonly configs: readonly McpServerConfig[];
  /** The folder servers start in. */
  readonly root: string;
  /** Names no tool of a server may have. */
  readonly reserved?: readonly string[];
  readonly handlers?: McpRequestHandlers;
  /** Whether a project's server may be started, as it is written now. Without this, none is. */
  readonly consent?: (config: McpServerConfig) => Promise<boolean>;
  /** The folder of Parley's own things. With it, tools are offered at once as they were the last time, and sign-ins are kept. */
  readonly home?: string;
  readonly startTimeout?: number;
  /**
   * When to begin. What servers need takes long to load; whoever has something more urgent to do, such as a first
   * request, has them wait for it. What they offered the last time is there all the same.
   */
  readonly startAfter?: Promise<unknown>;
  /** Whether servers of which nothing is remembered start at once, whatever `after` says. */
  readonly startUncachedAtOnce?: boolean;
};

/** Something that happened to a server. */
export type McpServersEvent =
  | { readonly type: "server-changed"; readonly server: McpServerStatus }
  | { readonly type: "server-log"; readonly server: string; readonly level: string; readonly text: string };

/** A server, for people. */
export type McpServerStatus = {
  readonly name: string;
  readonly source: McpServerConfig["source"];
  /** What is started or reached, all of it. */
  readonly endpoint: string;
  readonly status: McpServerState;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  /** What it wants models to know. */
  readonly instructions: string;
  /** What of it is not offered, and why. */
  readonly omitted: readonly string[];
};

/** The servers of one session. They connect by themselves; nobody waits for them who does not want to. */
export type McpServers = {
  readonly status: () => readonly McpServerStatus[];
  readonly listen: (listener: (event: McpServersEvent) => void) => () => void;
  /** Takes over what came, went and changed since the last time. Called between turns: it costs the prompt cache. */
  readonly applyChanges: () => readonly McpToolChanges[];
  /** The tools as they were taken over last; the same until the next time. */
  readonly tools: () => readonly McpTool[];
  readonly find: (name: string) => McpTool | undefined;
  readonly names: () => readonly string[];
  readonly declarations: () => readonly ToolDeclaration[];
  /** Waits until it is known what every server offered the last time; that asks nobody. */
  readonly cachesLoaded: (signal: AbortSignal) => Promise<void>;
  /** Waits until every server, or every one of these, is ready or has failed once. */
  readonly settled: (signal: AbortSignal, names?: readonly string[]) => Promise<void>;
  /** The names of servers of which nothing is known yet: never seen before, and still connecting. */
  readonly uncachedServers: () => readonly string[];
  readonly resources: () => readonly (OfferedResource & { readonly server: string; readonly isTemplate: boolean })[];
  readonly readResource: (server: string, uri: string, asking: McpReadOptions) => Promise<readonly ToolContent[]>;
  /** What `@server:uri` stands for; undefined where no server has that name. */
  readonly readMention: (mention: string, asking: McpReadOptions) => Promise<readonly ToolContent[] | undefined>;
  /** Prompts as commands: `/server:prompt`. */
  readonly prompts: () => readonly (OfferedPrompt & { readonly server: string; readonly command: string })[];
  readonly readPrompt: (
    server: string,
    name: string,
    given: JsonObject,
    asking: McpReadOptions,
  ) => Promise<readonly PromptMessage[]>;
  /** Tells every server that the workspace has other folders now. */
  readonly notifyRootsChanged: () => Promise<void>;
  /** Starts a server again, after it failed or after a sign-in. */
  readonly restart: (name: string) => void;
  /** Ends all of them, and every process they started. */
  readonly close: () => Promise<void>;
};

const defaultStartTimeout = 60_000;

/** Opens servers, and comes back at once. */
export const openMcpServers = (options: McpServersOptions): McpServers => {
  const {
    world,
    configs,
    root,
    reserved = [],
    handlers: asking = {},
    consent = async () => false,
    startTimeout: startTime = defaultStartTimeout,
  } = options;
  const listeners = new Set<(event: McpServersEvent) => void>();
  const tell = (event: McpServersEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const servers = new Map<string, McpServer>();
  for (const config of configs)
    servers.set(
      config.name,
      new McpServer({
        world,
        config,
        root,
        handlers: asking,
        startTimeout: startTime,
        consent,
        home: options.home,
        startAfter: options.startAfter ?? Promise.resolve(),
        startUncachedAtOnce: options.startUncachedAtOnce ?? false,
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
        onChange: () => {
          const server = servers.get(config.name);
          if (server !== undefined) tell({ type: "server-changed", server: statusOf(server) });
        },
        onLog: (level, text) => tell({ type: "server-log", server: config.name, level, text }),
      }),
    );
  const all = [...servers.values()];
  const named = (name: string): McpServer => {
    const server = servers.get(name);
    if (server === undefined) throw new McpServerError("refused", `There is no MCP server ${JSON.stringify(name)}.`);
    return server;
  };
  const resources: McpServers["resources"] = () =>
    all.flatMap(({ name: server, catalog }) => [
      ...catalog.resources.map((resource) => ({ ...resource, server, isTemplate: false })),
      ...catalog.templates.map((resource) => ({ ...resource, server, isTemplate: true })),
    ]);
  const read: McpServers["readResource"] = (name, uri, how) => readResource(named(name), uri, how);
  const offer = new McpToolRegistry(
    reserved,
    createResourceTools({ resources, read, names: () => [...servers.keys()] }),
  );
  for (const server of all) server.start();
  return {
    status: () => all.map(statusOf),
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    applyChanges: () => offer.applyChanges(all),
    tools: () => offer.tools(),
    find: (name) => offer.find(name),
    names: () => offer.tools().map(({ tool }) => tool.name),
    declarations: () => offer.declarations(),
    cachesLoaded: async (signal) => void (await Promise.all(all.map((server) => server.cacheLoaded(signal)))),
    settled: async (signal, names) => {
      const some = names === undefined ? all : names.map(named);
      await Promise.all(some.map((server) => server.settled(signal)));
    },
    uncachedServers: () =>
      all.flatMap(({ name: server, isKnown, state }) => (isKnown || state.state !== "connecting" ? [] : [server])),
    resources,
    readResource: read,
    readMention: async (mention, how) => {
      const server = all.find((each) => mention.startsWith(`${each.name}:`));
      return server && readResource(server, mention.slice(server.name.length + 1), how);
    },
    prompts: () =>
      all.flatMap(({ name: server, catalog }) =>
        catalog.prompts.map((prompt) => ({ ...prompt, server, command: `${server}:${prompt.name}` })),
      ),
    readPrompt: (name, prompt, given, how) => readPrompt(named(name), prompt, given, how),
    notifyRootsChanged: async () =>
      void (await Promise.all(all.map(async ({ currentConnection: live }) => live?.notifyRootsChanged()))),
    restart: (name) => named(name).start(),
    close: async () => void (await Promise.all(all.map((server) => server.close()))),
  };
};

const statusOf = (server: McpServer): McpServerStatus => ({
  name: server.name,
  source: server.config.source,
  endpoint: server.redact(formatEndpoint(server.config.endpoint)),
  status: server.state,
  tools: server.catalog.tools.length,
  resources: server.catalog.resources.length + server.catalog.templates.length,
  prompts: server.catalog.prompts.length,
  instructions: server.currentConnection?.instructions ?? "",
  omitted: server.catalog.omitted,
});

/** The rules that let the tools of trusted servers run unasked, for the person's settings. */
export const trustRules = (configs: readonly McpServerConfig[]): readonly PermissionRule[] =>
  configs.flatMap(({ name, trust }) => (trust ? [{ type: "server", name }] : []));
