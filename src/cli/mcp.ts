import { plainJson } from "../policy/plain.ts";
import { createRedactor } from "../policy/redact.ts";
import { SettingsError } from "../settings/error.ts";
import { withoutSecrets } from "../settings/hide.ts";
import { homeFolder } from "../settings/home.ts";
import { pathText } from "../settings/path.ts";
import type { Server } from "../settings/values.ts";
import { setSetting, unsetSetting } from "../settings/write.ts";
import { serverShape } from "../settings/server-shape.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { Failure, misused } from "./failure.ts";
import { isStartable, knownServers, type Known, type KnownServer } from "./mcp-known.ts";
import { reachLines, shownName, standingWords } from "./mcp-shown.ts";
import { oneLine } from "./table.ts";

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

const list: Work = async (given, world) => {
  const { servers } = await known(world);
  if (given.has("json")) return printed({ servers: servers.map(plainOf) });
  if (servers.length === 0) process.stderr.write("parley: there are no servers yet; parley mcp add adds one.\n");
  const { redact } = createRedactor({ env: world.env });
  for (const each of servers) {
    const lines = [`${shownName(each.name)}: ${standingWords(each)}`, ...reachLines(each, redact)];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return 0;
};

const get: Work = async (given, world) => {
  const name = nameIn(given, "get");
  const found = await serverNamed(world, name);
  if (found.from === "project") process.stderr.write(`parley: it is ${standingWords(found)}.\n`);
  return printed({ [name]: hiddenIn(found) });
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
  if (!(await unsetSetting(world, homeFolder(world), pathOf(name))))
    throw new Failure(`There is no server ${oneLine(name)} in your settings.`, { code: 1 });
  process.stderr.write(`Removed ${oneLine(name)}.\n`);
  return 0;
};

const allow: Work = async (given, world) => {
  const name = nameIn(given, "allow");
  const { allowServer } = await import("./mcp-consent.ts");
  return allowServer(await known(world), name, given.has("yes"));
};

const deny: Work = async (given, world) => {
  const name = nameIn(given, "deny");
  const { denyServer } = await import("./mcp-consent.ts");
  return denyServer(await known(world), name);
};

const test: Work = async (given, world) => {
  const [, name] = given.words;
  const all = name === undefined ? (await known(world)).servers : [startable(await serverNamed(world, name))];
  const { testServers } = await import("./mcp-test.ts");
  return testServers(given, world, all);
};

const login: Work = async (given, world) => {
  const name = nameIn(given, "login");
  const { signIn } = await import("./mcp-login.ts");
  return signIn(world, startable(await serverNamed(world, name)), given.has("yes"));
};

const logout: Work = async (given, world) => {
  const name = nameIn(given, "logout");
  const { signOut } = await import("./mcp-login.ts");
  return signOut(world, await serverNamed(world, name));
};

const serve: Work = async () => {
  const { serveTools } = await import("./mcp-serve.ts");
  return serveTools(process.stdin, process.stdout);
};

const actions: Readonly<Record<string, Work>> = {
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

const known = (world: World): Promise<Known> => knownServers(world, process.cwd());

/** The server of that name, the one that is used where there are several. */
const serverNamed = async (world: World, name: string): Promise<KnownServer> => {
  const { servers } = await known(world);
  const found = servers.filter((each) => each.name === name);
  const server = found.find(isStartable) ?? found[0];
  if (server === undefined) throw unknown(name, [...new Set(servers.map((each) => each.name))]);
  return server;
};

const startable = (server: KnownServer): KnownServer => {
  if (isStartable(server)) return server;
  throw new Failure(`${shownName(server.name)} is ${standingWords(server)}.`, { code: 1 });
};

const unknown = (name: string, others: readonly string[] = []): Failure =>
  new Failure(
    `There is no server ${shownName(name)} here.${others.length === 0 ? "" : ` There are ${others.map(shownName).join(", ")}.`}`,
    { code: 1 },
  );

const nameIn = ({ words: [, name] }: Arguments, action: string): string => {
  if (name === undefined) throw misused(`Say which: parley mcp ${action} NAME.`);
  return name;
};

const pathOf = (name: string): string => pathText(["mcpServers", name]);

const hiddenIn = ({ server }: KnownServer): unknown => withoutSecrets(serverShape, server);

const plainOf = (each: KnownServer): object => ({
  name: each.name,
  from: each.from,
  ...(each.from === "project" ? { file: each.file, ...each.standing } : {}),
  server: hiddenIn(each),
});

const whatOf = ({ command, args = [], url, httpUrl }: Server): string =>
  command === undefined ? (httpUrl ?? url ?? "") : [command, ...args].join(" ");

const printed = (value: unknown): number => {
  process.stdout.write(`${plainJson(JSON.stringify(value, null, 2))}\n`);
  return 0;
};
