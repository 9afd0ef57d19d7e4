import type { ToolDeclaration } from "../../conversation/entry.ts";
import { openConsentStore } from "../../policy/trust/consents.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { McpServerConfig, McpServerConfigs } from "../../mcp/config/read-servers.ts";
import type { McpServers } from "../../mcp/servers.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { Agent } from "../agent.ts";
import type { OpenAgentOptions } from "../options.ts";

/** What servers may do without being asked, by who said so. */
export type ServerAllowRules = {
  readonly line: readonly PermissionRule[];
  readonly settings: readonly PermissionRule[];
};

/** The MCP servers of a session, what they may do without being asked, and what to tell the person about them. */
export type ConnectedServers = {
  readonly servers: McpServers | undefined;
  readonly allow: ServerAllowRules;
  readonly notes: readonly string[];
};

/**
 * Starts the servers a person configured, and those of the project they agreed to, once `after` is over. Nobody waits
 * for them: what they offered last time is offered now, and what they offer today with the next request after they are
 * there. A model that is told of no tools of a server yet can wait for them with `waitTool`.
 */
export const connectServers = async (
  options: OpenAgentOptions,
  reserved: readonly ToolDeclaration[],
  { after, agent }: { readonly after: Promise<void>; readonly agent: Promise<Agent> },
): Promise<ConnectedServers> => {
  const { world, home, folder } = options;
  if (!hasConfiguredServers(options)) return { servers: undefined, allow: noRules, notes: [] };
  const { servers: configs, problems } = await readConfiguredServers(options);
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
    // Only those that were agreed to are among the configurations.
    consent: async () => true,
    handlers: {
      ...createServerRequestHandlers(options.serverRequests ?? {}, { agent, limit }),
      roots: () => [folder, ...settings["context.includeDirectories"]],
    },
  });
  await servers.cachesLoaded(new AbortController().signal);
  const late = options.interactive ? [] : await waitForNewServers(servers, options);
  servers.applyChanges();
  const allow = {
    line: trustRules(configs.filter(({ source: from }) => from === "line")),
    settings: trustRules(configs.filter(({ source: from }) => from === "person")),
  };
  return { servers, allow, notes: [...problems, ...late] };
};

/**
 * Waits for servers that were never seen before, since a run without a person has no second chance to learn of their
 * tools. Answers what to say of those that took too long.
 */
const waitForNewServers = async (
  servers: McpServers,
  { world, loaded, onProgress: say }: OpenAgentOptions,
): Promise<readonly string[]> => {
  const names = servers.uncachedServers();
  const seconds = loaded.settings["mcp.startWait"];
  if (names.length === 0 || seconds === 0) return [];
  const list = names.map((each) => sanitizeForTerminal(each, "line")).join(", ");
  say?.(`Waiting up to ${seconds} s for MCP servers not seen before: ${list} (mcp.startWait).`);
  const { withTimeout } = await import("../../mcp/connection/timeout.ts");
  const { signal } = new AbortController();
  await withTimeout({ clock: world.clock, ms: seconds * 1000, signal }, (stop) => servers.settled(stop, names)).catch(
    () => undefined,
  );
  return servers.status().flatMap(({ name: server, status }) => {
    if (!names.includes(server) || status.state === "ready") return [];
    const subject = `The MCP server ${sanitizeForTerminal(server, "line")}`;
    return "reason" in status
      ? `${subject} is not there: ${sanitizeForTerminal(status.reason, "line")}`
      : `${subject} is not there after ${seconds} s; its tools are offered as soon as it is (mcp.startWait).`;
  });
};

const noRules: ServerAllowRules = { line: [], settings: [] };

/** Most people have none, and then nothing is loaded. */
const hasConfiguredServers = ({ loaded, servers }: OpenAgentOptions): boolean =>
  servers !== undefined ||
  Object.keys(loaded.settings.mcpServers).length > 0 ||
  loaded.project.consents.some(({ key }) => key.startsWith("mcpServers."));

const readConfiguredServers = async ({
  world,
  home,
  folder,
  loaded,
  servers,
}: OpenAgentOptions): Promise<McpServerConfigs> => {
  const { env, disk } = world;
  const [{ readServerConfigs }, { readConsentedServers }] = await Promise.all([
    import("../../mcp/config/read-servers.ts"),
    import("../../settings/load/project.ts"),
  ]);
  const wanted = loaded.project.consents.filter(({ key }) => key.startsWith("mcpServers."));
  const missing = wanted.length === 0 ? [] : await openConsentStore(disk, home).findMissing(folder, wanted);
  const agreed = readConsentedServers(wanted.filter((each) => !missing.includes(each)));
  const read = [
    readServerConfigs(servers, { from: "line", env }),
    readServerConfigs(loaded.settings.mcpServers, { from: "person", env }),
    readServerConfigs(agreed.servers, { from: "project", env }),
  ];
  const byName = new Map<string, McpServerConfig>();
  for (const config of read.flatMap((each) => each.servers))
    if (!byName.has(config.name)) byName.set(config.name, config);
  return {
    servers: [...byName.values()],
    problems: [
      ...read.flatMap(({ problems }) => problems),
      ...agreed.warnings,
      ...missing.map(
        ({ key }) =>
          `This project wants to start the MCP server ${serverName(key)}; it is not started until you agree (parley mcp allow ${serverName(key)}).`,
      ),
    ],
  };
};

const serverName = (key: string): string => sanitizeForTerminal(key.replace("mcpServers.", ""), "line");
