import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "../../test/built.ts";
import { appFixtures, type RunningApp, type AppFixture } from "../../test/tui/app-fixture.ts";

/*
 * The published everything server uses elicitation and sampling in a real terminal.
 */

ensureBuilt();
const { on } = appFixtures();

const server = fileURLToPath(
  new URL("../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

const script = {
  rules: [
    { prompt: "context: a ship's name", replies: [{ say: "The Unsinkable." }] },
    {
      prompt: "Fill it in",
      replies: [{ call: { tool: "trigger-elicitation-request", input: {} } }, { say: "Asked." }],
    },
    {
      prompt: "Have words",
      replies: [
        { call: { tool: "trigger-sampling-request", input: { prompt: "a ship's name", maxTokens: 60 } } },
        { say: "Asked." },
      ],
    },
  ],
};

const configured = async (more: object = {}): Promise<readonly [AppFixture, readonly string[]]> => {
  const stage = await on({ script, size: { columns: 100, rows: 50 } });
  const path = join(stage.project, "servers.json");
  const every = { command: process.execPath, args: [server, "stdio"], trust: true, ...more };
  writeFileSync(path, JSON.stringify({ mcpServers: { every } }));
  return [stage, ["--mcp-config", path]];
};

const begin = async (): Promise<RunningApp> => {
  const [stage, args] = await configured();
  const app = stage.start({ args });
  await app.waitForText(/ · \d+% of \d/);
  return app;
};

/** Expands collapsed text and returns the whole screen. */
const unfolded = async (app: RunningApp, words: string | RegExp): Promise<string> => {
  await app.waitForText("Asked.");
  await app.waitUntilIdle();
  app.type("\u000f");
  await app.waitForText(words);
  return app.screen.scrollback().join("\n");
};

describe("the everything server in the terminal", () => {
  it("gets an elicitation form filled in, with every kind of field", async () => {
    const app = await begin();
    app.submit("Fill it in");
    await app.waitForText("MCP server every asks");
    app.type("y");
    const answers = ["Ada", "\u001b[B\u001b[B", "", "not an address"];
    for (const [at, answer] of answers.entries()) {
      await app.waitForText(`${at + 1} of 13`);
      app.type(`${answer}\r`);
    }
    await app.waitForText("! This must be an email address, such as someone@example.com.");
    app.type("\u0015ada@example.com\r");
    const more = ["https://ada.example", "1815-12-10", "7", "", "\u001b[B", "\u001b[B ", "", " \u001b[B ", "\u001b[B"];
    for (const [at, answer] of more.entries()) {
      await app.waitForText(`${at + 5} of 13`);
      app.type(`${answer}\r`);
    }
    await app.waitForText("Your answer:");
    app.type("y");
    const seen = await unfolded(app, /"legacyTitledEnum": "pet-2"/);
    const [, raw = ""] = /Raw result: (\{.*?\n\s*\}\n\s*\})/s.exec(seen) ?? [];
    expect(JSON.parse(raw)).toEqual({
      action: "accept",
      content: {
        name: "Ada",
        check: true,
        firstLine: "It was a dark and stormy night.",
        email: "ada@example.com",
        homepage: "https://ada.example",
        birthdate: "1815-12-10",
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: "Rachel",
        untitledMultipleSelectEnum: ["Guitar", "Piano"],
        titledSingleSelectEnum: "hero-1",
        titledMultipleSelectEnum: ["fish-2"],
        legacyTitledEnum: "pet-2",
      },
    });
    await app.quit();
  });

  it("gets an elicitation declined", async () => {
    const app = await begin();
    app.submit("Fill it in");
    await app.waitForText("MCP server every asks");
    app.type("n");
    expect(await unfolded(app, /"action": "decline"/)).toContain("User declined");
    await app.quit();
  });

  it("gets a sampling response, or the user's refusal", async () => {
    const app = await begin();
    app.submit("Have words");
    await app.waitForText("MCP server every asks");
    app.type("y");
    await unfolded(app, /"text": "The Unsinkable\."/);
    app.submit("Have words");
    await app.waitForText(/─ MCP server every asks ─/);
    app.type("n");
    await app.waitForText("The user refused this.");
    await app.waitUntilIdle();
    await app.quit();
  });
});

describe("the everything server without a terminal", () => {
  const run = async (more: object): Promise<{ readonly out: string; readonly tools: readonly string[] }> => {
    const [stage, args] = await configured(more);
    const words = ["-p", "Have words", "--cwd", stage.project, "--output-format", "stream-json", ...args];
    const { stdout } = spawnSync(process.execPath, [bin, ...words], {
      encoding: "utf8",
      input: "",
      env: {
        PATH: process.env["PATH"],
        HOME: stage.home,
        PARLEY_OFFLINE_SCRIPT: join(stage.home, "..", "script.json"),
        METADATA_SERVER_DETECTION: "none",
        AWS_EC2_METADATA_DISABLED: "true",
      },
    });
    return { out: stdout, tools: readdirSync(join(stage.home, ".parley", "cache", "mcp")) };
  };

  it("offers no tool that needs an answer, unless sampling is allowed without asking", async () => {
    const refused = await run({});
    const allowed = await run({ sampling: "allow" });
    expect([refused, allowed].map(({ out }) => out.includes("The Unsinkable."))).toEqual([false, true]);
    expect(refused.out).toMatch(/trigger-sampling-request.*(?:not found|no tool|unknown)/i);
    expect([refused, allowed].map(({ tools }) => tools.map((name) => name.replace(/[\da-f]{64}/, "DIGEST")))).toEqual([
      ["tools-DIGEST.json"],
      ["tools-DIGEST-sampling.json"],
    ]);
  });
});
