import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** The program of an official MCP reference server. */
export const packagedServer = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));

/** Starts the everything server on a local port. */
export const serveEverything = async (transport: "streamableHttp" | "sse"): Promise<EverythingServer> => {
  const port = await freePort();
  const child = spawn(process.execPath, [packagedServer("server-everything"), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve) =>
    child.stderr.on("data", (said: Buffer) => /listening|running/i.test(said.toString()) && resolve()),
  );
  return {
    url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`,
    stop: () => void child.kill("SIGKILL"),
  };
};

/** A running server. */
export type EverythingServer = { readonly url: string; readonly stop: () => void };

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
