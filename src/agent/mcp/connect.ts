import type { ToolDeclaration } from "../../conversation/entry.ts";
import { openConsentStore } from "../../policy/trust/consents.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { McpServerConfig, McpServerConfigs } from "../../mcp/config/read-servers.ts";
import type { McpServers } from "../../mcp/servers.ts";
import type { SessionPlugins } from "../../extensions/plugins/session.ts";
import type { Environment } from "../../world/world.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { Agent } from "../agent.ts";
import type { ResolvedAgentOptions } from "../options.ts";

/** Permission rules that allow tools of MCP servers, by where they were configured. */
export type ServerAllowRules = {
  readonly commandLine: readonly PermissionRule[];
  readonly settings: readonly PermissionRule[];
};

/** The MCP servers of a session, the permission rules for them, and messages for the person. */
export type ConnectedServers = {
  readonly servers: McpServers | undefined;
  readonly allow: ServerAllowRules;
  readonly notes: readonly string[];
};

/**
 * Opens the servers the person configured, and those of the project they consented to; they start once `after` resolves.
 * The session does not wait for them: tools they offered last time are declared now, and changes with the first request
 * after they connect. For a server never seen before, the model can call the wait tool.
 */
export const connectServers = async (
  options: ResolvedAgentOptions,
  reserved: readonly ToolDeclaration[],
  {
    after,
    agent,
    plugins,
  }: {
    readonly after: Promise<void>;
    readonly agent: Promise<Agent>;
    readonly plugins?: SessionPlugins | undefined;
  },
): Promise<ConnectedServers> => {
  const { world, home, folder } = options;
  const hasPluginServers = plugins !== undefined && Object.keys(plugins.servers).length > 0;
  if (!hasPluginServers && !hasConfiguredServers(options)) return { servers: undefined, allow: noRules, notes: [] };
  const { servers: configs, problems, offered } = await readConfiguredServers(options, plugins);
  if (configs.length === 0) return { servers: undefined, allow: noRules, notes: problems };
  const [{ openMcpServers, trustRules }, { createServerRequestHandlers }] = await Promise.all([
    import("../../mcp/servers.ts"),
    import("./server-requests.ts"),
  ]);
  const { settings } = options.loaded;
  const limit = settings["limits.spend"] ?? Number.POSITIVE_INFINITY;
  const servers = openMcpServers({
    world,
    configs,
    root: folder,
    reserved: reserved.map(({ name }) => name),
    home,
    startAfter: after,
    startUncachedAtOnce: !options.interactive,
    // The project's servers without consent are not among the configurations.
    consent: async (config) => !offered.has(config) || (await options.consentToServer?.(config)) === true,
    handlers: {
      ...createServerRequestHandlers(options.serverRequests ?? {}, { agent, limit }),
      roots: () => [folder, ...settings["context.includeDirectories"]],
    },
  });
  await servers.cachesLoaded(new AbortController().signal);
  const timeouts = options.interactive ? [] : await waitForNewServers(servers, options);
  servers.applyChanges();
  const allow = {
    commandLine: trustRules(configs.filter(({ source }) => source === "line")),
    settings: trustRules(configs.filter(({ source }) => source === "person")),
  };
  return { servers, allow, notes: [...problems, ...timeouts] };
};

/**
 * Waits for servers never seen before, since a run without a person has no second chance to learn their tools. Returns
 * a message for each that did not connect in time.
 */
const waitForNewServers = async (
  servers: McpServers,
  { world, loaded, onProgress }: ResolvedAgentOptions,
): Promise<readonly string[]> => {
  const names = servers.uncachedServers();
  const seconds = loaded.settings["mcp.startWait"];
  if (names.length === 0 || seconds === 0) return [];
  const list = names.map((each) => sanitizeForTerminal(each, "line")).join(", ");
  onProgress?.(`Waiting up to ${seconds} s for MCP servers not seen before: ${list} (mcp.startWait).`);
  const { withTimeout } = await import("../../mcp/connection/timeout.ts");
  const { signal } = new AbortController();
  await withTimeout({ clock: world.clock, ms: seconds * 1000, signal }, (abort) => servers.settled(abort, names)).catch(
    () => undefined,
  );
  return servers.status().flatMap(({ name: server, status }) => {
    if (!names.includes(server) || status.state === "ready") return [];
    const subject = `The MCP server ${sanitizeForTerminal(server, "line")}`;
    return "reason" in status
      ? `${subject} is not available: ${sanitizeForTerminal(status.reason, "line")}`
      : `${subject} did not connect within ${seconds} s; its tools are added once it does (mcp.startWait).`;
  });
};

const noRules: ServerAllowRules = { commandLine: [], settings: [] };

/** Whether any server is configured. Without one, no MCP code is loaded. */
const hasConfiguredServers = ({ loaded, servers, offeredServers }: ResolvedAgentOptions): boolean =>
  servers !== undefined ||
  offeredServers !== undefined ||
  Object.keys(loaded.settings.mcpServers).length > 0 ||
  loaded.project.consents.some(({ key }) => key.startsWith("mcpServers."));

const readConfiguredServers = async (
  { world, home, folder, loaded, servers, offeredServers }: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<McpServerConfigs & { readonly offered: ReadonlySet<McpServerConfig> }> => {
  const { env, disk } = world;
  const [{ readServerConfigs }, { readConsentedServers }] = await Promise.all([
    import("../../mcp/config/read-servers.ts"),
    import("../../settings/load/project.ts"),
  ]);
  const requested = loaded.project.consents.filter(({ key }) => key.startsWith("mcpServers."));
  const missing =
    requested.length === 0 ? [] : await openConsentStore(disk, home.config).findMissing(folder, requested);
  const consented = readConsentedServers(requested.filter((each) => !missing.includes(each)));
  // Their values are meant literally: a program must not name a secret to get it.
  const offered = readServerConfigs(offeredServers, { from: "project", env: {} });
  const read = [
    readServerConfigs(servers, { from: "line", env }),
    readServerConfigs(loaded.settings.mcpServers, { from: "person", env }),
    readServerConfigs(consented.servers, { from: "project", env }),
    offered,
  ];
  const ofPlugins = readPluginServers(readServerConfigs, plugins, world.env);
  const byName = new Map<string, McpServerConfig>();
  for (const config of [...read.flatMap((each) => each.servers), ...ofPlugins.servers])
    if (!byName.has(config.name)) byName.set(config.name, config);
  return {
    servers: [...byName.values()],
    offered: new Set(offered.servers),
    problems: [
      ...[...read, ofPlugins].flatMap(({ problems }) => problems),
      ...(await describeTakenServers(ofPlugins.servers, byName, plugins)),
      ...consented.warnings,
      ...missing.map(
        ({ key }) =>
          `This project wants to start the MCP server ${serverName(key)}. It is not started until you allow it: parley mcp allow ${serverName(key)}`,
      ),
    ],
  };
};

type ReadServerConfigs = typeof import("../../mcp/config/read-servers.ts").readServerConfigs;

/** Reads the servers of plugins. A secret is never among their variables. */
const readPluginServers = (
  readServerConfigs: ReadServerConfigs,
  plugins: SessionPlugins | undefined,
  env: Environment,
): McpServerConfigs => {
  if (plugins === undefined) return { servers: [], problems: [] };
  const { servers, problems } = readServerConfigs(plugins.servers, { from: "project", env: plugins.serverEnvironment });
  return {
    servers,
    problems: problems.map((problem) => {
      const [, name = ""] = /names the variable (\w+), which is not set/.exec(problem) ?? [];
      return `In a plugin: ${problem}${env[name] === undefined ? "" : ` Plugins do not get secrets such as ${name}: add the server to your own settings (parley mcp add).`}`;
    }),
  };
};

/** A message for each server of a plugin whose name another server has. */
const describeTakenServers = async (
  ofPlugins: readonly McpServerConfig[],
  used: ReadonlyMap<string, McpServerConfig>,
  plugins: SessionPlugins | undefined,
): Promise<readonly string[]> => {
  const taken = ofPlugins.filter((config) => used.get(config.name) !== config);
  if (taken.length === 0) return [];
  const { describeTakenName } = await import("../../extensions/plugins/session.ts");
  return taken.map(({ name }) => {
    const owner = used.get(name)?.source === "project" ? "this project" : "your configuration";
    return describeTakenName(name, plugins?.serverOwners[name] ?? "", owner);
  });
};

const serverName = (key: string): string => sanitizeForTerminal(key.replace("mcpServers.", ""), "line");
