/*
 * A program with two servers, one of which keeps running when stdin closes and ignores SIGTERM. Prints the process ids
 * of both and of their children, then ends as its first argument says.
 */
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import { openMcpServers } from "../../src/mcp/servers.ts";
import { normalizeResult } from "../../src/tools/result/normalize.ts";
import { realWorld } from "../../src/world/real/world.ts";

const [how, server = ""] = process.argv.slice(2);
const start = (behaviour: string): object => ({ command: process.execPath, args: [server, behaviour] });
const { servers: configs } = readServerConfigs(
  { stays: start("stays"), breeds: start("breeds") },
  { from: "person", env: process.env },
);
const servers = openMcpServers({ world: realWorld(), configs, root: process.cwd() });
await servers.settled(AbortSignal.timeout(60_000));
servers.applyChanges();
const can = { signal: new AbortController().signal, report: () => undefined, files: { keep: async () => "" } };
const told = await Promise.all(
  ["stays__echo", "breeds__echo"].map(async (name) => {
    const result = await normalizeResult(await servers.find(name)!.tool.run({} as never, can as never));
    return result.display.type === "text" ? result.display.text : "";
  }),
);
process.stdout.write(`${told.join(" ")}\n`);
if (how === "close") await servers.close();
if (how === "exit") process.exit(0);
if (how === "crash") throw new Error("on purpose");
