import { escapeJsonForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { SettingsError } from "../../settings/error.ts";
import { redactSecrets } from "../../settings/schema/redact-secrets.ts";
import { resolveHomeFolder } from "../../settings/home.ts";
import { formatKeyPath } from "../../settings/schema/key-path.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import { setSetting, unsetSetting } from "../../settings/file/write.ts";
import { serverShape } from "../../settings/schema/mcp-server-shape.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../parse-arguments.ts";
import type { CommandHandler } from "../commands.ts";
import { UserError, usageError } from "../user-error.ts";
import { isStartable, loadConfiguredServers, type ServerContext, type ConfiguredServer } from "./configured-servers.ts";
import { formatReach, sanitizeName, describeConsentState } from "./describe.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley mcp`: the servers whose tools models may use. */
export const mcp: CommandHandler = async (given) => {
  const [action = "list"] = given.positionals;
  const work = actions[action];
  if (work === undefined) throw usageError(`mcp cannot "${action}". It can ${Object.keys(actions).join(", ")}.`);
  try {
    return await work(given, realWorld());
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UserError(sanitizeLine(error.message), { code: error.fault.kind === "refused" ? 2 : 1 });
  }
};

type McpAction = (given: Arguments, world: World) => Promise<number>;

const list: McpAction = async (given, world) => {
  const { servers } = await loadServers(world);
  if (given.has("json")) return printSanitizedJson({ servers: servers.map(serverJson) });
  if (servers.length === 0) process.stderr.write("parley: there are no servers yet; parley mcp add adds one.\n");
  const { redact } = createRedactor({ env: world.env });
  for (const each of servers) {
    const lines = [`${sanitizeName(each.name)}: ${describeConsentState(each)}`, ...formatReach(each, redact)];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return 0;
};

const get: McpAction = async (given, world) => {
  const name = requireName(given, "get");
  const found = await findServer(world, name);
  if (found.from === "project") process.stderr.write(`parley: it is ${describeConsentState(found)}.\n`);
  return printSanitizedJson({ [name]: withoutServerSecrets(found) });
};

const add: McpAction = async (given, world) => {
  const name = requireName(given, "add");
  const { parseServerArguments } = await import("./add.ts");
  const server = parseServerArguments(given);
  await setSetting(world, resolveHomeFolder(world), settingPathOf(name), server);
  process.stderr.write(
    `Added ${sanitizeLine(name)}: ${sanitizeLine(describeReach(server))}. parley mcp test ${sanitizeLine(name)} tries it.\n`,
  );
  return 0;
};

const remove: McpAction = async (given, world) => {
  const name = requireName(given, "remove");
  if (!(await unsetSetting(world, resolveHomeFolder(world), settingPathOf(name))))
    throw new UserError(`There is no server ${sanitizeLine(name)} in your settings.`, { code: 1 });
  process.stderr.write(`Removed ${sanitizeLine(name)}.\n`);
  return 0;
};

const allow: McpAction = async (given, world) => {
  const name = requireName(given, "allow");
  const { allowServer } = await import("./consent.ts");
  return allowServer(await loadServers(world), name, given.has("yes"));
};

const deny: McpAction = async (given, world) => {
  const name = requireName(given, "deny");
  const { denyServer } = await import("./consent.ts");
  return denyServer(await loadServers(world), name);
};

const test: McpAction = async (given, world) => {
  const [, name] = given.positionals;
  const all =
    name === undefined ? (await loadServers(world)).servers : [requireStartable(await findServer(world, name))];
  const { testServers } = await import("./test-servers.ts");
  return testServers(given, world, all);
};

const login: McpAction = async (given, world) => {
  const name = requireName(given, "login");
  const { signInToServer } = await import("./login.ts");
  return signInToServer(world, requireStartable(await findServer(world, name)), given.has("yes"));
};

const logout: McpAction = async (given, world) => {
  const name = requireName(given, "logout");
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

/** The server of that name, the one that is used where there are several. */
const findServer = async (world: World, name: string): Promise<ConfiguredServer> => {
  const { servers } = await loadServers(world);
  const found = servers.filter((each) => each.name === name);
  const server = found.find(isStartable) ?? found[0];
  if (server === undefined) throw unknownServer(name, [...new Set(servers.map((each) => each.name))]);
  return server;
};

const requireStartable = (server: ConfiguredServer): ConfiguredServer => {
  if (isStartable(server)) return server;
  throw new UserError(`${sanitizeName(server.name)} is ${describeConsentState(server)}.`, { code: 1 });
};

const unknownServer = (name: string, others: readonly string[] = []): UserError =>
  new UserError(
    `There is no server ${sanitizeName(name)} here.${others.length === 0 ? "" : ` There are ${others.map(sanitizeName).join(", ")}.`}`,
    { code: 1 },
  );

const requireName = ({ positionals: [, name] }: Arguments, action: string): string => {
  if (name === undefined) throw usageError(`Say which: parley mcp ${action} NAME.`);
  return name;
};

const settingPathOf = (name: string): string => formatKeyPath(["mcpServers", name]);

const withoutServerSecrets = ({ server }: ConfiguredServer): unknown => redactSecrets(serverShape, server);

const serverJson = (each: ConfiguredServer): object => ({
  name: each.name,
  from: each.from,
  ...(each.from === "project" ? { file: each.file, ...each.standing } : {}),
  server: withoutServerSecrets(each),
});

const describeReach = ({ command, args = [], url, httpUrl }: McpServerSettings): string =>
  command === undefined ? (httpUrl ?? url ?? "") : [command, ...args].join(" ");

const printSanitizedJson = (value: unknown): number => {
  process.stdout.write(`${escapeJsonForTerminal(JSON.stringify(value, null, 2))}\n`);
  return 0;
};
