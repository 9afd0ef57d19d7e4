import { readServers } from "../mcp/config.ts";
import { openServers, type Servers, type ServerStatus } from "../mcp/servers.ts";
import { homeFolder } from "../settings/home.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import { isStartable, type KnownServer } from "./mcp-known.ts";
import { shownName, standingWords } from "./mcp-shown.ts";
import { oneLine } from "./table.ts";

/** Starts servers, prints what each offers or why it does not come up, and ends them. */
export const testServers = async (given: Arguments, world: World, known: readonly KnownServer[]): Promise<number> => {
  const read = known
    .filter(isStartable)
    .map(({ name, server, from }) => readServers({ [name]: server }, { from, env: world.env }));
  const problems = read.flatMap((each) => each.problems);
  const servers = openServers({
    world,
    configs: read.flatMap((each) => each.servers),
    root: process.cwd(),
    home: homeFolder(world),
    // Only those that were agreed to are among the configurations.
    consent: async () => true,
  });
  const done = new AbortController();
  try {
    if (process.stderr.isTTY) void tellWaiting(world, servers, done.signal);
    await servers.settled(new AbortController().signal);
    servers.takeChanges();
    const status = servers.status();
    const toolsOf = (name: string): readonly string[] =>
      servers.tools().flatMap(({ tool, server }) => (server === name ? [tool.name] : []));
    if (given.has("json"))
      process.stdout.write(
        `${JSON.stringify({ servers: status.map((one) => ({ ...one, tools: toolsOf(one.name) })), problems }, null, 2)}\n`,
      );
    else for (const one of status) process.stdout.write(`${linesOf(one, toolsOf(one.name)).map(oneLine).join("\n")}\n`);
    for (const problem of problems) process.stderr.write(`parley: ${oneLine(problem)}\n`);
    for (const each of known)
      if (!isStartable(each)) process.stderr.write(`parley: ${shownName(each.name)} is ${standingWords(each)}.\n`);
    return problems.length === 0 && status.every(({ status: { state } }) => state === "ready") ? 0 : 1;
  } finally {
    done.abort();
    await servers.close();
  }
};

/** Names those that take long, first after two seconds and then every ten. */
const tellWaiting = async ({ clock }: World, servers: Servers, signal: AbortSignal): Promise<void> => {
  for (let waited = 2; ; waited += 10) {
    await clock.sleep(waited === 2 ? 2000 : 10_000, signal).catch(() => undefined);
    if (signal.aborted) return;
    const slow = servers.status().filter(({ status }) => status.state === "connecting");
    if (slow.length > 0)
      process.stderr.write(`Waiting for ${slow.map(({ name }) => shownName(name)).join(", ")} (${waited} s)\n`);
  }
};

const linesOf = (
  { name, status, resources, prompts, left }: ServerStatus,
  tools: readonly string[],
): readonly string[] => [
  status.state === "ready"
    ? `${name}: ready, ${tools.length} tools, ${resources} resources, ${prompts} prompts`
    : `${name}: ${status.state}${"reason" in status ? `. ${status.reason}` : ""}`,
  ...(tools.length === 0 ? [] : [`  ${tools.join(", ")}`]),
  ...left.map((words) => `  ${words}`),
];
