import { escapeJsonForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { SettingsError } from "../../settings/error.ts";
import { redactSecrets } from "../../settings/schema/redact-secrets.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { formatKeyPath } from "../../settings/schema/key-path.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import { setSetting, unsetSetting } from "../../settings/file/write.ts";
import { serverShape } from "../../settings/schema/mcp-server-shape.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { isStartable, loadConfiguredServers, type ServerContext, type ConfiguredServer } from "./configured-servers.ts";
import { formatReach, sanitizeName, describeConsentState } from "./describe.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley mcp`: manages MCP servers. */
export const mcp: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  const work = actions[action];
  if (work === undefined)
    throw usageError(`Unknown action "${action}" for mcp. Available: ${Object.keys(actions).join(", ")}.`);
  try {
    return await work(args, realWorld());
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UserError(sanitizeLine(error.message), { code: error.fault.kind === "refused" ? 2 : 1 });
  }
};

type McpAction = (args: Arguments, world: World) => Promise<number>;

const list: McpAction = async (args, world) => {
  const { servers } = await loadServers(world);
  if (args.has("json")) return printSanitizedJson({ servers: servers.map(serverJson) });
  if (servers.length === 0) process.stderr.write("parley: No servers. Add one with parley mcp add.\n");
  const { redact } = createRedactor({ env: world.env });
  for (const server of servers) {
    const lines = [`${sanitizeName(server.name)}: ${describeConsentState(server)}`, ...formatReach(server, redact)];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return 0;
};

const get: McpAction = async (args, world) => {
  const name = requireName(args, "get");
  const server = await findServer(world, name);
  if (server.from === "project") process.stderr.write(`parley: it is ${describeConsentState(server)}.\n`);
  return printSanitizedJson({ [name]: withoutServerSecrets(server) });
};

const add: McpAction = async (args, world) => {
  const name = requireName(args, "add");
  const { parseServerArguments } = await import("./add.ts");
  const server = parseServerArguments(args);
  await setSetting(world, (await findHomeFolders(world)).config, settingPathOf(name), server);
  process.stderr.write(
    `Added ${sanitizeLine(name)}: ${sanitizeLine(describeReach(server))}. Test it with parley mcp test ${sanitizeLine(name)}.\n`,
  );
  return 0;
};

const remove: McpAction = async (args, world) => {
  const name = requireName(args, "remove");
  if (!(await unsetSetting(world, (await findHomeFolders(world)).config, settingPathOf(name))))
    throw new UserError(`Unknown server ${sanitizeLine(name)} in your settings.`, { code: 1 });
  process.stderr.write(`Removed ${sanitizeLine(name)}.\n`);
  return 0;
};

const allow: McpAction = async (args, world) => {
  const name = requireName(args, "allow");
  const { allowServer } = await import("./consent.ts");
  return allowServer(await loadServers(world), name, args.has("yes"));
};

const deny: McpAction = async (args, world) => {
  const name = requireName(args, "deny");
  const { denyServer } = await import("./consent.ts");
  return denyServer(await loadServers(world), name);
};

const test: McpAction = async (args, world) => {
  const [, name] = args.positionals;
  const all =
    name === undefined ? (await loadServers(world)).servers : [requireStartable(await findServer(world, name))];
  const { testServers } = await import("./test-servers.ts");
  return testServers(args, world, all);
};

const login: McpAction = async (args, world) => {
  const name = requireName(args, "login");
  const { signInToServer } = await import("./login.ts");
  return signInToServer(world, requireStartable(await findServer(world, name)), args.has("yes"));
};

const logout: McpAction = async (args, world) => {
  const name = requireName(args, "logout");
  const { signOutOfServer } = await import("./login.ts");
  return signOutOfServer(world, await findServer(world, name));
};

const serve: McpAction = async () => {
  const { serveTools } = await import("./serve.ts");
  return serveTools(process.stdin, process.stdout);
};

const actions: Readonly<Record<string, McpAction>> = {
  list,
  add,
  get,
  remove,
  allow,
  deny,
  test,
  login,
  logout,
  serve,
};

const loadServers = (world: World): Promise<ServerContext> => loadConfiguredServers(world, process.cwd());

/** Finds a server by name; if there are several, the one that is used. */
const findServer = async (world: World, name: string): Promise<ConfiguredServer> => {
  const { servers } = await loadServers(world);
  const matches = servers.filter((candidate) => candidate.name === name);
  const server = matches.find(isStartable) ?? matches[0];
  if (server === undefined) throw unknownServer(name, [...new Set(servers.map((other) => other.name))]);
  return server;
};

const requireStartable = (server: ConfiguredServer): ConfiguredServer => {
  if (isStartable(server)) return server;
  throw new UserError(`${sanitizeName(server.name)} is ${describeConsentState(server)}.`, { code: 1 });
};

const unknownServer = (name: string, others: readonly string[] = []): UserError =>
  new UserError(
    `Unknown server ${sanitizeName(name)}.${others.length === 0 ? "" : ` Available: ${others.map(sanitizeName).join(", ")}.`}`,
    { code: 1 },
  );

const requireName = ({ positionals: [, name] }: Arguments, action: string): string => {
  if (name === undefined) throw usageError(`Missing argument NAME: parley mcp ${action} NAME.`);
  return name;
};

const settingPathOf = (name: string): string => formatKeyPath(["mcpServers", name]);

const withoutServerSecrets = ({ server }: ConfiguredServer): unknown => redactSecrets(serverShape, server);

const serverJson = (server: ConfiguredServer): object => ({
  name: server.name,
  from: server.from,
  ...(server.from === "project" ? { file: server.file, ...server.consentState } : {}),
  server: withoutServerSecrets(server),
});

const describeReach = ({ command, args = [], url, httpUrl }: McpServerSettings): string =>
  command === undefined ? (httpUrl ?? url ?? "") : [command, ...args].join(" ");

const printSanitizedJson = (value: unknown): number => {
  process.stdout.write(`${escapeJsonForTerminal(JSON.stringify(value, null, 2))}\n`);
  return 0;
};
