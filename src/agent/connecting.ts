import type { ToolDeclaration } from "../conversation/entry.ts";
import { openConsents } from "../policy/consents.ts";
import { plain } from "../policy/plain.ts";
import type { ServerConfig, ServerConfigs } from "../mcp/config.ts";
import type { Servers } from "../mcp/servers.ts";
import type { Rule } from "../policy/rules.ts";
import type { Agent } from "./agent.ts";
import type { OpenOptions } from "./open.ts";

/** What servers may do without being asked, by who said so. */
export type Allowed = { readonly line: readonly Rule[]; readonly settings: readonly Rule[] };

/** The MCP servers of a session, what they may do without being asked, and what to tell the person about them. */
export type Connected = {
  readonly servers: Servers | undefined;
  readonly allow: Allowed;
  readonly notes: readonly string[];
};

/**
 * Starts the servers a person configured, and those of the project they agreed to, once `after` is over. Nobody waits
 * for them: what they offered last time is offered now, and what they offer today with the next request after they are
 * there. A model that is told of no tools of a server yet can wait for them with `waitTool`.
 */
export const connectServers = async (
  options: OpenOptions,
  reserved: readonly ToolDeclaration[],
  { after, agent }: { readonly after: Promise<void>; readonly agent: Promise<Agent> },
): Promise<Connected> => {
  const { world, home, folder } = options;
  if (!isConfigured(options)) return { servers: undefined, allow: nothing, notes: [] };
  const { servers: configs, problems } = await configured(options);
  if (configs.length === 0) return { servers: undefined, allow: nothing, notes: problems };
  const [{ openServers, trustRules }, { answeringServers }] = await Promise.all([
    import("../mcp/servers.ts"),
    import("./server-asking.ts"),
  ]);
  const { settings } = options.loaded;
  const limit = settings["limits.spend"] ?? Number.POSITIVE_INFINITY;
  const servers = openServers({
    world,
    configs,
    root: folder,
    reserved: reserved.map(({ name }) => name),
    home,
    after,
    startsUnknownAtOnce: !options.interactive,
    // Only those that were agreed to are among the configurations.
    consent: async () => true,
    asking: {
      ...answeringServers(options.asking ?? {}, { agent, limit }),
      roots: () => [folder, ...settings["context.includeDirectories"]],
    },
  });
  await servers.remembered(new AbortController().signal);
  const late = options.interactive ? [] : await waitForUnknown(servers, options);
  servers.takeChanges();
  const allow = {
    line: trustRules(configs.filter(({ from }) => from === "line")),
    settings: trustRules(configs.filter(({ from }) => from === "person")),
  };
  return { servers, allow, notes: [...problems, ...late] };
};

/**
 * Waits for servers that were never seen before, since a run without a person has no second chance to learn of their
 * tools. Answers what to say of those that took too long.
 */
const waitForUnknown = async (servers: Servers, { world, loaded, say }: OpenOptions): Promise<readonly string[]> => {
  const names = servers.unknown();
  const seconds = loaded.settings["mcp.startWait"];
  if (names.length === 0 || seconds === 0) return [];
  const list = names.map((each) => plain(each, "line")).join(", ");
  say?.(`Waiting up to ${seconds} s for MCP servers not seen before: ${list} (mcp.startWait).`);
  const { within } = await import("../mcp/within.ts");
  const { signal } = new AbortController();
  await within({ clock: world.clock, ms: seconds * 1000, signal }, (stop) => servers.settled(stop, names)).catch(
    () => undefined,
  );
  return servers.status().flatMap(({ name: server, status }) => {
    if (!names.includes(server) || status.state === "ready") return [];
    const subject = `The MCP server ${plain(server, "line")}`;
    return "reason" in status
      ? `${subject} is not there: ${plain(status.reason, "line")}`
      : `${subject} is not there after ${seconds} s; its tools are offered as soon as it is (mcp.startWait).`;
  });
};

const nothing: Allowed = { line: [], settings: [] };

/** Most people have none, and then nothing is loaded. */
const isConfigured = ({ loaded, servers }: OpenOptions): boolean =>
  servers !== undefined ||
  Object.keys(loaded.settings.mcpServers).length > 0 ||
  loaded.project.consents.some(({ key }) => key.startsWith("mcpServers."));

const configured = async ({ world, home, folder, loaded, servers }: OpenOptions): Promise<ServerConfigs> => {
  const { env, disk } = world;
  const [{ readServers }, { serversOf }] = await Promise.all([
    import("../mcp/config.ts"),
    import("../settings/project.ts"),
  ]);
  const wanted = loaded.project.consents.filter(({ key }) => key.startsWith("mcpServers."));
  const missing = wanted.length === 0 ? [] : await openConsents(disk, home).missing(folder, wanted);
  const agreed = serversOf(wanted.filter((each) => !missing.includes(each)));
  const read = [
    readServers(servers, { from: "line", env }),
    readServers(loaded.settings.mcpServers, { from: "person", env }),
    readServers(agreed.servers, { from: "project", env }),
  ];
  const byName = new Map<string, ServerConfig>();
  for (const config of read.flatMap((each) => each.servers))
    if (!byName.has(config.name)) byName.set(config.name, config);
  return {
    servers: [...byName.values()],
    problems: [
      ...read.flatMap(({ problems }) => problems),
      ...agreed.warnings,
      ...missing.map(
        ({ key }) =>
          `This project wants to start the MCP server ${name(key)}; it is not started until you agree (parley mcp allow ${name(key)}).`,
      ),
    ],
  };
};

const name = (key: string): string => plain(key.replace("mcpServers.", ""), "line");
