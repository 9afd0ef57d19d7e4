import { createRedactor } from "../policy/redact.ts";
import { openTrust } from "../policy/trust.ts";
import {
  homeFolder,
  loadSettings,
  pathText,
  setSetting,
  SettingsError,
  spotNamed,
  unsetSetting,
  withoutSecrets,
  type Server,
} from "../settings/index.ts";
import { realWorld, type World } from "../world/index.ts";
import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { Failure, misused } from "./failure.ts";
import { aligned, oneLine } from "./table.ts";

/** `parley mcp`: the servers whose tools models may use. */
export const mcp: Run = async (given) => {
  const [action = "list"] = given.words;
  const work = actions[action];
  if (work === undefined) throw misused(`mcp cannot "${action}". It can ${Object.keys(actions).join(", ")}.`);
  try {
    return await work(given, realWorld());
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Failure(oneLine(error.message), { code: error.fault.kind === "refused" ? 2 : 1 });
  }
};

type Work = (given: Arguments, world: World) => Promise<number>;
type Servers = Readonly<Record<string, Server>>;

const list: Work = async (given, world) => {
  const servers = await configured(world);
  const all = Object.entries(servers);
  if (given.has("json"))
    return printed({ servers: Object.fromEntries(all.map(([name, server]) => [name, hiddenIn(name, server)])) });
  if (all.length === 0) process.stderr.write("parley: there are no servers yet; parley mcp add adds one.\n");
  const { redact } = createRedactor({ env: world.env });
  for (const line of aligned(all.map(([name, server]) => [name, redact(whatOf(server))])))
    process.stdout.write(`${oneLine(line)}\n`);
  return 0;
};

const get: Work = async (given, world) => {
  const name = nameIn(given, "get");
  const server = await serverNamed(world, name);
  return printed({ [name]: hiddenIn(name, server) });
};

const add: Work = async (given, world) => {
  const name = nameIn(given, "add");
  const { serverIn } = await import("./mcp-add.ts");
  const server = serverIn(given);
  await setSetting(world, homeFolder(world), pathOf(name), server);
  process.stderr.write(
    `Added ${oneLine(name)}: ${oneLine(whatOf(server))}. parley mcp test ${oneLine(name)} tries it.\n`,
  );
  return 0;
};

const remove: Work = async (given, world) => {
  const name = nameIn(given, "remove");
  if (!(await unsetSetting(world, homeFolder(world), pathOf(name)))) throw unknown(name);
  process.stderr.write(`Removed ${oneLine(name)}.\n`);
  return 0;
};

const test: Work = async (given, world) => {
  const [, name] = given.words;
  const servers = name === undefined ? await configured(world) : { [name]: await serverNamed(world, name) };
  const { testServers } = await import("./mcp-test.ts");
  return testServers(given, world, servers);
};

const login: Work = async (given, world) => {
  const name = nameIn(given, "login");
  const { signIn } = await import("./mcp-login.ts");
  return signIn(world, name, await serverNamed(world, name));
};

const logout: Work = async (given, world) => {
  const name = nameIn(given, "logout");
  const { signOut } = await import("./mcp-login.ts");
  return signOut(world, name, await serverNamed(world, name));
};

const serve: Work = async () => {
  const { serveTools } = await import("./mcp-serve.ts");
  return serveTools(process.stdin, process.stdout);
};

const actions: Readonly<Record<string, Work>> = { list, add, get, remove, test, login, logout, serve };

/** The person's own servers. */
const configured = async (world: World): Promise<Servers> => {
  const home = homeFolder(world);
  const root = process.cwd();
  const scope = await openTrust(world.disk, home).projectScope(root);
  const { settings } = await loadSettings(world, { home, root, scope });
  return settings.mcpServers ?? {};
};

const serverNamed = async (world: World, name: string): Promise<Server> => {
  const servers = await configured(world);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server === undefined) throw unknown(name, Object.keys(servers));
  return server;
};

const unknown = (name: string, known: readonly string[] = []): Failure =>
  new Failure(
    `There is no server ${oneLine(name)} in your settings.${known.length === 0 ? "" : ` There are ${known.map(oneLine).join(", ")}.`}`,
    { code: 1 },
  );

const nameIn = ({ words: [, name] }: Arguments, action: string): string => {
  if (name === undefined) throw misused(`Say which: parley mcp ${action} NAME.`);
  return name;
};

const pathOf = (name: string): string => pathText(["mcpServers", name]);

const hiddenIn = (name: string, server: Server): unknown => withoutSecrets(spotNamed(pathOf(name)).shape, server);

const whatOf = ({ command, args = [], url, httpUrl }: Server): string =>
  command === undefined ? (httpUrl ?? url ?? "") : [command, ...args].join(" ");

const printed = (value: unknown): number => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
};
