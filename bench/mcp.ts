/*
 * What MCP servers cost, measured: how much later the first request leaves with ten servers of which one takes 30 s to
 * start, and how long 1,000 tools take to be offered once they have arrived.
 */
import { spawn } from "node:child_process";
import { copyFile, mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { toolsIn } from "../src/mcp/catalog.ts";
import { ToolNames } from "../src/mcp/names.ts";
import { toolOf } from "../src/mcp/tool.ts";

const median = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0;

/** How long until the first request arrives, in milliseconds from the start of the program. */
const firstRequest = async (script: string, count: number, home: string): Promise<number> => {
  let arrived: (() => void) | undefined;
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const server = createServer((_, response) => {
    arrived?.();
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const began = performance.now();
  const args = [script, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, String(count), home];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  await arrival;
  const time = performance.now() - began;
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  server.closeAllConnections();
  server.close();
  return time;
};

const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
const script = join(folder, "first-request.mjs");
const entry = fileURLToPath(new URL("./mcp-first-request.ts", import.meta.url));
await build({
  entryPoints: [entry],
  outdir: folder,
  entryNames: "first-request",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  packages: "external",
  nodePaths: [fileURLToPath(new URL("../node_modules", import.meta.url))],
  absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
  logLevel: "error",
});
await copyFile(
  fileURLToPath(new URL("../test/mcp/scripted-server.mjs", import.meta.url)),
  join(folder, "scripted-server.mjs"),
);
const rounds = 15;
const times: Record<string, number[]> = { none: [], ten: [] };
for (let round = 0; round < rounds; round += 1) {
  times["none"]?.push(await firstRequest(script, 0, folder));
  times["ten"]?.push(await firstRequest(script, 10, folder));
}
const [none, ten] = [median(times["none"] ?? []), median(times["ten"] ?? [])];
process.stdout.write(
  `first request: ${none.toFixed(1)} ms without servers, ${ten.toFixed(1)} ms with ten; ratio ${(ten / none).toFixed(2)}\n`,
);

const listed = Array.from({ length: 1000 }, (_, index) => ({
  name: `tool_${index}`,
  description: "Does one thing among many. ".repeat(8),
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(
      ["path", "query", "limit", "mode"].map((name) => [name, { type: "string", description: "What it is for." }]),
    ),
    required: ["path"],
  },
}));
const host = {
  server: "s",
  timeout: 1,
  connection: () => Promise.reject(new Error("none")),
  stopped: () => undefined,
  redact: String,
};
const register = (): number => {
  const began = process.cpuUsage();
  const tools = toolsIn(listed, { excludeTools: [] }, []);
  const names = new ToolNames([]);
  names.give(tools.map(({ name }) => ({ server: "s", tool: name })));
  for (const tool of tools) toolOf(names.nameOf({ server: "s", tool: tool.name }) ?? "", tool, host);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
};
process.stdout.write(
  `1,000 tools: ${register().toFixed(1)} ms at first, ${median(Array.from({ length: 9 }, register)).toFixed(1)} ms then, of the processor's time\n`,
);
