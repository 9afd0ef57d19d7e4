/* Sends one request as early as it can, with so many MCP servers configured, one of which takes 30 s to start. */
import { fileURLToPath } from "node:url";
import { openServers, readServers } from "../src/mcp/index.ts";
import { realWorld } from "../src/world/index.ts";

const [url = "", count = "0", home = ""] = process.argv.slice(2);
const server = fileURLToPath(new URL("scripted-server.mjs", import.meta.url));
const world = realWorld();
const { servers: configs } = readServers(
  Object.fromEntries(
    Array.from({ length: Number(count) }, (_, index) => [
      `s${index}`,
      { command: process.execPath, args: [server, ...(index === 0 ? ["slow", "30000"] : ["honest"])] },
    ]),
  ),
  { from: "person", env: world.env },
);
let sent: (() => void) | undefined;
const after = new Promise<void>((resolve) => (sent = resolve));
const servers = openServers({ world, configs, root: process.cwd(), home, after });
servers.takeChanges();
const answer = world.net.send({
  method: "POST",
  url,
  headers: {},
  body: JSON.stringify({ tools: servers.declarations() }),
});
await answer;
sent?.();
await servers.settled(AbortSignal.timeout(60_000));
