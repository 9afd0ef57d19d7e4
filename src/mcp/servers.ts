import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { PermissionRule } from "../policy/gate/permission-rules.ts";
import type { ToolContent } from "../tools/tool.ts";
import { toHomeFolders, type HomeOption } from "../world/home-folders.ts";
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
  /** The working directory of servers. */
  readonly root: string;
  /** Names that no tool of a server may get. */
  readonly reserved?: readonly string[];
  readonly handlers?: McpRequestHandlers;
  /** Whether a project's server may be started with its current configuration. Without this, none is. */
  readonly consent?: (config: McpServerConfig) => Promise<boolean>;
  /** Parley's own folders. With them, cached tools are offered at once, and sign-ins are stored. */
  readonly home?: HomeOption;
  readonly startTimeout?: number;
  /**
   * When to start. The client package takes long to load, so the caller can delay servers until after something more
   * urgent, such as a first request. Cached tools are offered in any case.
   */
  readonly startAfter?: Promise<unknown>;
  /** Whether servers without a cache entry start at once, whatever `startAfter` says. */
  readonly startUncachedAtOnce?: boolean;
};

/** An event of a server. */
export type McpServersEvent =
  | { readonly type: "server-changed"; readonly server: McpServerStatus }
  | { readonly type: "server-log"; readonly server: string; readonly level: string; readonly text: string };

/** The status of a server, for the user. */
export type McpServerStatus = {
  readonly name: string;
  readonly source: McpServerConfig["source"];
  /** The whole command line or URL. */
  readonly endpoint: string;
  readonly status: McpServerState;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  /** Its instructions for models. */
  readonly instructions: string;
  /** Tools and lists that are not offered, with the reason. */
  readonly omitted: readonly string[];
};

/** The MCP servers of one session. They connect in the background. */
export type McpServers = {
  readonly status: () => readonly McpServerStatus[];
  readonly listen: (listener: (event: McpServersEvent) => void) => () => void;
  /**
   * Applies the tools added, removed and changed since the last call. Called between turns: it invalidates the prompt
   * cache.
   */
  readonly applyChanges: () => readonly McpToolChanges[];
  /** The tools as of the last `applyChanges`. */
  readonly tools: () => readonly McpTool[];
  readonly find: (name: string) => McpTool | undefined;
  readonly names: () => readonly string[];
  readonly declarations: () => readonly ToolDeclaration[];
  /** Waits until every server's cached catalog has been read; needs no server. */
  readonly cachesLoaded: (signal: AbortSignal) => Promise<void>;
  /** Waits until every server, or each of these, is ready or has failed once. */
  readonly settled: (signal: AbortSignal, names?: readonly string[]) => Promise<void>;
  /** The names of servers that are still connecting and have no cached catalog. */
  readonly uncachedServers: () => readonly string[];
  readonly resources: () => readonly (OfferedResource & { readonly server: string; readonly isTemplate: boolean })[];
  readonly readResource: (server: string, uri: string, handlers: McpReadOptions) => Promise<readonly ToolContent[]>;
  /** Reads the resource of `@server:uri`; undefined where no server has that name. */
  readonly readMention: (mention: string, handlers: McpReadOptions) => Promise<readonly ToolContent[] | undefined>;
  /** Prompts as commands: `/server:prompt`. */
  readonly prompts: () => readonly (OfferedPrompt & { readonly server: string; readonly command: string })[];
  readonly readPrompt: (
    server: string,
    name: string,
    input: JsonObject,
    handlers: McpReadOptions,
  ) => Promise<readonly PromptMessage[]>;
  /** Tells every server that the folders of the workspace have changed. */
  readonly notifyRootsChanged: () => Promise<void>;
  /** Restarts a server, after it failed or after a sign-in. */
  readonly restart: (name: string) => void;
  /** Stops all of them, and every process they started. */
  readonly close: () => Promise<void>;
};

const defaultStartTimeout = 60_000;

/** Opens servers and returns at once; they connect in the background. */
export const openMcpServers = (options: McpServersOptions): McpServers => {
  const events = createEvents();
  const servers = createServers(options, events.emit);
  const all = [...servers.values()];
  const requireServer = (name: string): McpServer => {
    const server = servers.get(name);
    if (server === undefined) throw new McpServerError("refused", `Unknown MCP server ${JSON.stringify(name)}.`);
    return server;
  };
  const reading = createReaders(all, requireServer);
  const registry = new McpToolRegistry(
    options.reserved ?? [],
    createResourceTools({ resources: reading.resources, read: reading.readResource, names: () => [...servers.keys()] }),
  );
  for (const server of all) server.start();
  return {
    status: () => all.map(statusOf),
    listen: events.listen,
    applyChanges: () => registry.applyChanges(all),
    tools: () => registry.tools(),
    find: (name) => registry.find(name),
    names: () => registry.tools().map(({ tool }) => tool.name),
    declarations: () => registry.declarations(),
    cachesLoaded: async (signal) => void (await Promise.all(all.map((server) => server.cacheLoaded(signal)))),
    settled: async (signal, names) => {
      const some = names === undefined ? all : names.map(requireServer);
      await Promise.all(some.map((server) => server.settled(signal)));
    },
    uncachedServers: () =>
      all.flatMap(({ name, isKnown, state }) => (isKnown || state.state !== "connecting" ? [] : [name])),
    ...reading,
    notifyRootsChanged: async () =>
      void (await Promise.all(all.map(async ({ currentConnection }) => currentConnection?.notifyRootsChanged()))),
    restart: (name) => requireServer(name).start(),
    close: async () => void (await Promise.all(all.map((server) => server.close()))),
  };
};

type EmitServersEvent = (event: McpServersEvent) => void;

const createEvents = (): { readonly emit: EmitServersEvent; readonly listen: McpServers["listen"] } => {
  const listeners = new Set<EmitServersEvent>();
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** The servers by name, not started yet. */
const createServers = (options: McpServersOptions, emit: EmitServersEvent): ReadonlyMap<string, McpServer> => {
  const { world, configs, root, handlers = {}, consent = async () => false, lookup } = options;
  const servers = new Map<string, McpServer>();
  for (const config of configs)
    servers.set(
      config.name,
      new McpServer({
        world,
        config,
        root,
        handlers,
        consent,
        startTimeout: options.startTimeout ?? defaultStartTimeout,
        home: options.home === undefined ? undefined : toHomeFolders(options.home),
        startAfter: options.startAfter ?? Promise.resolve(),
        startUncachedAtOnce: options.startUncachedAtOnce ?? false,
        ...(lookup === undefined ? {} : { lookup }),
        onChange: () => {
          const server = servers.get(config.name);
          if (server !== undefined) emit({ type: "server-changed", server: statusOf(server) });
        },
        onLog: (level, text) => emit({ type: "server-log", server: config.name, level, text }),
      }),
    );
  return servers;
};

type McpReaders = Pick<McpServers, "resources" | "readResource" | "readMention" | "prompts" | "readPrompt">;

/** The functions that list and read resources and prompts. */
const createReaders = (all: readonly McpServer[], requireServer: (name: string) => McpServer): McpReaders => ({
  resources: () =>
    all.flatMap(({ name: server, catalog }) => [
      ...catalog.resources.map((resource) => ({ ...resource, server, isTemplate: false })),
      ...catalog.templates.map((resource) => ({ ...resource, server, isTemplate: true })),
    ]),
  readResource: (name, uri, options) => readResource(requireServer(name), uri, options),
  readMention: async (mention, options) => {
    const server = all.find(({ name }) => mention.startsWith(`${name}:`));
    return server && readResource(server, mention.slice(server.name.length + 1), options);
  },
  prompts: () =>
    all.flatMap(({ name: server, catalog }) =>
      catalog.prompts.map((prompt) => ({ ...prompt, server, command: `${server}:${prompt.name}` })),
    ),
  readPrompt: (name, prompt, input, options) => readPrompt(requireServer(name), prompt, input, options),
});

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

/** Permission rules that let the tools of trusted servers run without asking. */
export const trustRules = (configs: readonly McpServerConfig[]): readonly PermissionRule[] =>
  configs.flatMap(({ name, trust }) => (trust ? [{ type: "server", name }] : []));
