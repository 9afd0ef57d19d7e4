import { readServerConfigs } from "../../mcp/config/read-servers.ts";
import { openMcpServers, type McpServers, type McpServerStatus } from "../../mcp/servers.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { isStartable, type ConfiguredServer } from "./configured-servers.ts";
import { sanitizeName, describeConsentState } from "./describe.ts";
import { withProgress, type ReportProgress } from "../progress.ts";
import { sanitizeLine } from "../text-table.ts";

/** Starts servers, prints the tools of each or why it failed, and stops them. */
export const testServers = async (
  args: Arguments,
  world: World,
  known: readonly ConfiguredServer[],
): Promise<number> => {
  const parsed = known
    .filter(isStartable)
    .map(({ name, server, from }) => readServerConfigs({ [name]: server }, { from, env: world.env }));
  const problems = parsed.flatMap((result) => result.problems);
  const servers = openMcpServers({
    world,
    configs: parsed.flatMap((result) => result.servers),
    root: process.cwd(),
    home: await findHomeFolders(world),
    // The configurations contain allowed servers only.
    consent: async () => true,
  });
  try {
    await withProgress("Starting MCP servers", (report) => waitForServers(servers, report));
    servers.applyChanges();
    const status = servers.status();
    const toolsOf = (name: string): readonly string[] =>
      servers.tools().flatMap(({ tool, server }) => (server === name ? [tool.name] : []));
    if (args.has("json"))
      process.stdout.write(
        `${JSON.stringify({ servers: status.map((server) => ({ ...server, tools: toolsOf(server.name) })), problems }, null, 2)}\n`,
      );
    else
      for (const server of status)
        process.stdout.write(`${formatStatus(server, toolsOf(server.name)).map(sanitizeLine).join("\n")}\n`);
    for (const problem of problems) process.stderr.write(`parley: ${sanitizeLine(problem)}\n`);
    for (const server of known)
      if (!isStartable(server))
        process.stderr.write(`parley: ${sanitizeName(server.name)} is ${describeConsentState(server)}.\n`);
    return problems.length === 0 && status.every(({ status: { state } }) => state === "ready") ? 0 : 1;
  } finally {
    await servers.close();
  }
};

/** Waits until no server connects any more, and names those that still do. */
const waitForServers = async (servers: McpServers, report: ReportProgress): Promise<void> => {
  const update = (): void => {
    const all = servers.status();
    const slow = all.filter(({ status }) => status.state === "connecting");
    report(all.length - slow.length, all.length, slow.map(({ name }) => name).join(", "));
  };
  update();
  servers.listen(update);
  await servers.settled(new AbortController().signal);
};

const formatStatus = (
  { name, status, resources, prompts, omitted: left }: McpServerStatus,
  tools: readonly string[],
): readonly string[] => [
  status.state === "ready"
    ? `${name}: ready, ${tools.length} tools, ${resources} resources, ${prompts} prompts`
    : `${name}: ${status.state}${"reason" in status ? `. ${status.reason}` : ""}`,
  ...(tools.length === 0 ? [] : [`  ${tools.join(", ")}`]),
  ...left.map((words) => `  ${words}`),
];
