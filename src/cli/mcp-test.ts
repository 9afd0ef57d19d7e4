import { openServers, readServers, type ServerStatus } from "../mcp/index.ts";
import { homeFolder, type Server } from "../settings/index.ts";
import type { World } from "../world/index.ts";
import type { Arguments } from "./arguments.ts";
import { oneLine } from "./table.ts";

/** Starts servers, prints what each offers or why it does not come up, and ends them. */
export const testServers = async (
  given: Arguments,
  world: World,
  described: Readonly<Record<string, Server>>,
): Promise<number> => {
  const { servers: configs, problems } = readServers(described, { from: "person", env: world.env });
  const servers = openServers({ world, configs, root: process.cwd(), home: homeFolder(world) });
  try {
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
    return problems.length === 0 && status.every(({ status: { state } }) => state === "ready") ? 0 : 1;
  } finally {
    await servers.close();
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
