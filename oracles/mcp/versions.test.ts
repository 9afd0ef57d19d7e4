import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { textOf, withServers } from "../../test/mcp/with-servers.ts";

const tsx = fileURLToPath(new URL("../../node_modules/tsx/dist/esm/index.mjs", import.meta.url));
const args = ["--import", tsx, fileURLToPath(new URL("./newest-server.ts", import.meta.url))];

const answers = async (config: object): Promise<unknown> => {
  let found: unknown;
  await withServers({ configured: { newest: config } }, async ({ servers, call }) => {
    const [server] = servers.status();
    found = [server?.status, textOf(await call("echo", { message: "hi" }))];
  });
  return found;
};

describe("a server that supports only the newest protocol", () => {
  it("is used over stdio", async () => {
    expect(await answers({ command: process.execPath, args })).toEqual([{ state: "ready" }, "modern: hi"]);
  });

  it.each(["httpUrl", "url"])("is used over HTTP, as %s", async (field) => {
    const child = spawn(process.execPath, [...args, "http"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const port = await new Promise<string>((resolve) =>
        child.stdout.once("data", (said: Buffer) => resolve(said.toString().trim())),
      );
      expect(await answers({ [field]: `http://127.0.0.1:${port}/mcp` })).toEqual([{ state: "ready" }, "modern: hi"]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
