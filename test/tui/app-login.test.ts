import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";
import { runInTerminal } from "./terminal.ts";

/* Keys that are typed in a terminal: in the packaged program, against an API that accepts one of them. */

const key = "sk-ant-canary-5d20";
const seen: string[] = [];
let server: Server;
let url: string;
beforeAll(async () => {
  ensureBuilt();
  server = createServer((request, response) => {
    const given = String(request.headers["x-api-key"]);
    seen.push(given);
    if (given !== key)
      return void response
        .writeHead(401)
        .end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}');
    response.end(JSON.stringify({ data: [{ id: "claude-sonnet-5" }], has_more: false }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => void seen.splice(0));

const { on } = appFixtures();

/** All files below a folder that contain the key. */
const filesWithKey = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), "latin1").includes("canary"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

describe("/login", () => {
  it("stores a pasted key for its owner alone, after one request, and never shows or records it", async () => {
    const { start, home } = await on({ env: { ANTHROPIC_BASE_URL: url } });
    const app = start();
    await app.waitUntilIdle();
    app.submit("/login anthropic --store file");
    const rows = await app.waitForText("Paste the key");
    // The input is not left above the question.
    expect(rows.filter((row) => row.includes("────") || row.includes("for keys"))).toEqual([]);
    app.type(`\u001b[200~${key}\u001b[201~\r`);
    await app.waitForText("The key works: 1 model.");
    await app.waitForText("can be used now");
    await app.waitUntilIdle();
    expect(seen).toEqual([key]);
    expect(filesWithKey(home)).toEqual([".parley/auth/keys.json"]);
    expect(statSync(join(home, ".parley/auth/keys.json")).mode & 0o777).toBe(0o600);
    app.type("\u001b[A");
    await app.waitForText("> /login anthropic --store file");
    expect(await app.quit()).toBe(0);
    expect(app.output()).not.toContain("canary");
    expect(filesWithKey(home)).toEqual([".parley/auth/keys.json"]);
  });

  it("does not show a key that is pasted before the question", async () => {
    const { start, home } = await on({ env: { ANTHROPIC_BASE_URL: url } });
    const app = start();
    await app.waitUntilIdle();
    app.submit("/login anthropic --store file");
    // The program has left the terminal, and the question is not there yet.
    await app.waitFor(() => app.output().includes("\u001b[?2004l"));
    app.type(`${key}\r`);
    await app.waitForText("can be used now");
    expect(await app.quit()).toBe(0);
    expect(app.output()).not.toContain("canary");
    expect(filesWithKey(home)).toEqual([".parley/auth/keys.json"]);
  });

  it("stores no key that the provider refuses, and nothing on Ctrl-C", async () => {
    const { start, home } = await on({ env: { ANTHROPIC_BASE_URL: url } });
    const app = start();
    await app.waitUntilIdle();
    app.submit("/login anthropic");
    await app.waitForText("Paste the key");
    app.type("sk-canary-wrong\r");
    await app.waitForText(/Nothing was stored\.$/);
    await app.waitUntilIdle();
    app.submit("/login anthropic");
    await app.waitFor((rows) => rows.filter((row) => row.includes("Paste the key")).length === 2);
    app.type("half\u0003");
    await app.waitForText("No key given.");
    await app.waitUntilIdle();
    expect(await app.quit()).toBe(0);
    expect(existsSync(join(home, ".parley/auth/keys.json"))).toBe(false);
    expect(app.output()).not.toMatch(/canary|half/);
  });
});

describe.each([["login"], ["acp", "--login"]])("parley %s %s in a terminal", (...args) => {
  it("asks for the provider, then for the key, which it does not show", async () => {
    const { home } = await on();
    const env = { HOME: home, ANTHROPIC_BASE_URL: url, PATH: "/nowhere" };
    const app = runInTerminal(bin, { args: args.filter(Boolean), env, size: { columns: 80, rows: 24 } });
    await app.waitFor((rows) => rows.some((row) => row.startsWith("Provider:")));
    app.type("anthropic\r");
    await app.waitFor((rows) => rows.some((row) => row.startsWith("Paste the key for Anthropic")));
    app.type(`${key}\r`);
    expect((await app.ended).code).toBe(0);
    expect(app.screen.rows().at(-1)).toBe(
      "Stored the key for anthropic in ~/.parley/auth/keys.json, readable only by you.",
    );
    expect(app.output()).not.toContain("canary");
    expect(JSON.parse(readFileSync(join(home, ".parley/auth/keys.json"), "utf8"))).toEqual({
      anthropic: { default: { key } },
    });
  });
});
