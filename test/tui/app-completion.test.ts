import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, type RunningApp } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();

/** Waits for the rows of a menu with this many entries and this beginning. */
const menu = async (app: RunningApp, first: string, count: number): Promise<readonly string[]> => {
  const offered = (rows: readonly string[]): readonly string[] =>
    rows.slice(rows.findLastIndex((row) => row.startsWith("> ")) + 2, -1);
  return offered(
    await app.waitFor((rows) => offered(rows).length === count && offered(rows)[0]?.startsWith(`› ${first}`) === true),
  );
};

describe("completing a command", () => {
  it("finds its other names once their beginning is typed, before names that only share letters", async () => {
    const [app] = await started();
    app.type("/compr");
    expect(await menu(app, "compress", 2)).toEqual([
      expect.stringMatching(/^› compress {2}Compact /),
      expect.stringMatching(/^ {2}compare {2}/),
    ]);
    app.type("\u0003/exi");
    await menu(app, "exit", 2);
    app.type("\r");
    expect((await app.ended).code).toBe(0);
  });
});

describe("completing arguments of a command", () => {
  it("Tab inserts the choice, Enter runs the command", async () => {
    const [app] = await started();
    app.type("/approval ");
    expect(await menu(app, "plan", 4)).toEqual([
      "› plan  read-only; denies everything else",
      "  default  reads without asking, asks for the rest",
      "  auto_edit  also edits without asking; asks for commands (unlike Gemini CLI)",
      "  yolo  runs everything without asking, except outside the workspace",
    ]);
    app.type("au\t");
    await app.waitForText(/^> \/approval auto_edit$/);
    app.type("\r");
    await app.waitForText("auto_edit: also edits without asking; asks for commands");
    app.type("/theme li");
    expect(await menu(app, "light", 1)).toEqual(["› light"]);
    app.type("\r");
    await app.waitForText("Theme set to light.");
    app.type("/theme ");
    await menu(app, "auto", 3);
    app.type("\u001b[B\u001b[B\r");
    await app.waitForText("Theme set to dark.");
    await app.quit();
  });

  it("accepts a model written in full", async () => {
    const [app] = await started({ env: { ANTHROPIC_API_KEY: "none" } });
    app.type("/model offline/par");
    await menu(app, "offline/parley", 1);
    app.type("\r");
    await app.waitForText("Switched to offline/par. Used from the next request");
    app.type("/explain opus");
    expect((await menu(app, "anthropic/claude-opus", 8))[0]).toMatch(/^› anthropic\/claude-opus-\S+  \d/);
    app.type("\r");
    await app.waitForText(/Request to anthropic\/claude-opus-/);
    await app.quit();
  });

  it("works for sessions, pools, formats and servers", async () => {
    const { home, start } = await on({ script: { otherwise: { say: "Well." } }, size: { columns: 80, rows: 40 } });
    const pools = { cheap: { models: ["offline/parley", "offline/other"] } };
    const mcpServers = { broken: { command: "false" } };
    writeFileSync(join(home, ".parley", "settings.json"), JSON.stringify({ pools, mcpServers }));
    const app = start();
    await app.waitForText(/ · \d+% of \d/);
    const opened = (times: number): Promise<unknown> =>
      app.waitFor((rows) => rows.filter((row) => row === "MCP servers: broken.").length === times);
    app.submit("something to come back to");
    await app.waitForText("Well.");
    await app.waitUntilIdle();
    app.submit("/clear");
    await opened(2);
    await app.waitUntilIdle();
    app.type("/resume ");
    expect(await menu(app, "something to come back to", 1)).toEqual([
      expect.stringMatching(/^› something to come back to {2}just now, 1 message, offline\/parley$/),
    ]);
    app.type("some\r");
    await app.waitForText(/^> \/resume \w{8,}$/);
    await opened(3);
    await app.waitUntilIdle();
    app.type("/pool ");
    expect(await menu(app, "cheap", 1)).toEqual(["› cheap  offline/parley, offline/other: failover in this order."]);
    app.type("\u0003/export ");
    expect((await menu(app, "markdown", 8)).map((row) => row.slice(2).split(" ")[0])).toEqual([
      "markdown",
      "html",
      "json",
      "gemini",
      "anthropic",
      "bedrock",
      "openai-chat",
      "openai-responses",
    ]);
    app.type("\u0003/mcp ");
    expect(await menu(app, "restart", 1)).toEqual(["› restart"]);
    app.type("\t");
    expect(await menu(app, "broken", 1)).toEqual([expect.stringMatching(/^› broken {2}\w+$/)]);
    app.type("\u0003/memory ");
    expect(await menu(app, "add", 2)).toEqual(["› add", "  edit"]);
    app.type("\u0003/quit now ");
    await app.waitForText("> /quit now");
    expect(app.screen.rows().at(-3)).toBe("> /quit now");
    await app.quit();
  });
});
