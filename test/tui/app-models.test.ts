import { createServer, type Server } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";

const { on, started } = appFixtures();

/** A server of local models that lists two of them and answers nothing else. */
let server: Server;
let url: string;
beforeAll(async () => {
  ensureBuilt();
  server = createServer((request, response) => {
    if (request.url !== "/v1/models") return void response.writeHead(404).end("{}");
    response.end(JSON.stringify({ data: [{ id: "tiny" }, { id: "large:latest" }] }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => void server.close());

const local = () => ({ PARLEY_LOCAL_BASE_URL: url });

describe("a local server", () => {
  it("answers instead of the demo model if there is no key", async () => {
    const [app] = await started({ env: local() });
    await app.waitForText("No API key found. Using local/tiny, served on this machine.");
    await app.waitForText(/^local\/tiny · /);
    await app.quit();
  });
});

describe("/model", () => {
  it("keeps the choice in later sessions and after a restart, and says so if it cannot be used then", async () => {
    const [app, { start }] = await started();
    app.submit("/model local/tiny");
    await app.waitForText("No local server responds.");
    await app.waitForText(/^offline\/parley · /);
    await app.quit();
    const second = start({ env: local() });
    await second.waitForText(/^local\/tiny · /);
    second.submit("/model local/none");
    await second.waitForText('The local server has no model "none". It has tiny, large:latest.');
    second.submit("/model offline");
    await second.waitForText("Switched to offline/parley. Used from the next request and in new sessions.");
    second.submit("/clear");
    await second.waitForText(/^offline\/parley · /);
    await second.quit();
    const third = start({ env: local() });
    await third.waitForText(/^offline\/parley · /);
    third.submit("/model local/large");
    await third.waitForText("Switched to local/large.");
    await third.quit();
    const last = start({ env: { ...local(), ANTHROPIC_API_KEY: "sk-ant-none" } });
    await last.waitForText(/^local\/large · /);
    await last.quit();
  });

  it("does not use a choice that has no key any more, and says so", async () => {
    const { start, home } = await on();
    mkdirSync(join(home, ".parley"), { recursive: true });
    writeFileSync(join(home, ".parley", "models.json"), '["anthropic/claude-sonnet-5"]');
    const app = start();
    await app.waitForText("anthropic/claude-sonnet-5, which you chose last, is not used: no key is set for");
    await app.waitForText(/^offline\/parley · /);
    await app.quit();
  });

  it("takes a part of a name, and lists ten models with usable ones first", async () => {
    const [app] = await started({
      env: { ANTHROPIC_API_KEY: "sk-ant-none", ...local() },
      size: { columns: 80, rows: 30 },
    });
    await app.waitForText(/^anthropic\/claude-sonnet-5 · /);
    app.submit("/model opus");
    await app.waitForText("Switched to anthropic/claude-opus-5-5.");
    app.submit("/model");
    const rows = await app.waitForText("Which model?");
    const top = rows.findIndex((row) => row.startsWith("Which model?"));
    const list = rows.slice(top + 1, top + 12).map((row) => row.trim());
    expect(list[0]).toMatch(/^› anthropic\/claude-opus-5-5 +[\d.]+[kM] \$\d+\/\$\d+ image document$/);
    expect(list[1]).toMatch(/^anthropic\/claude-sonnet-5 /);
    expect(list[2]).toMatch(/^local\/tiny /);
    expect(list[10]).toMatch(/^1 of \d+ ↓ · type to filter$/);
    app.type("local/");
    await app.waitForText(/^› local\/tiny {2}/);
    app.type("\u001b");
    await app.waitUntilIdle();
    await app.quit();
  });

  it("asks about a name that may be mistyped", async () => {
    const [app] = await started({ env: { ANTHROPIC_API_KEY: "sk-ant-none" } });
    app.submit("/model anthropic/claude-sonet-5");
    await app.waitForText("Unknown model anthropic/claude-sonet-5.");
    await app.waitForText("Use anthropic/claude-sonet-5 anyway");
    app.type("\r");
    await app.waitForText("Already using anthropic/claude-sonnet-5.");
    await app.quit();
  });
});

describe("Alt-M", () => {
  it("switches to the next favourite that can be used, and names one that cannot", async () => {
    const { start, home } = await on({ env: local() });
    mkdirSync(join(home, ".parley"), { recursive: true });
    writeFileSync(
      join(home, ".parley", "settings.json"),
      JSON.stringify({ favourites: ["offline/parley", "anthropic/claude-sonnet-5", "local/tiny"] }),
    );
    const app = start();
    await app.waitForText(/^local\/tiny · /);
    app.type("\u001bm");
    await app.waitForText(/^offline\/parley · /);
    app.type("\u001bm");
    await app.waitForText("Anthropic is not ready: Set ANTHROPIC_API_KEY");
    await app.waitForText(/^local\/tiny · /);
    await app.quit();
  });
});

describe("the key for favourites, in a conversation", () => {
  const favourites = ["offline/parley", "anthropic/claude-sonnet-5", "openai/gpt-5.6"];

  it("goes on to each of them while it asks, and from the last back to the current one", async () => {
    const { start, home } = await on({ env: { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" } });
    writeFileSync(join(home, ".parley", "settings.json"), JSON.stringify({ favourites, model: "offline/parley" }));
    const app = start();
    await app.waitForText(/ · \d+% of \d/);
    app.submit("list the files");
    await app.waitForText(/^> list the files/);
    await app.waitUntilIdle();
    const press = async (question: string): Promise<void> => {
      app.type("\u001bm");
      await app.waitFor((rows) => rows.some((row) => row === question));
    };
    await press("Switch to anthropic/claude-sonnet-5?");
    await app.waitForText(/^ {2}Next favourite +openai\/gpt-5.6$/);
    await press("Switch to openai/gpt-5.6?");
    app.type("\u001bm");
    await app.waitUntilIdle();
    await app.waitForText(/^offline\/parley · /);
    await press("Switch to anthropic/claude-sonnet-5?");
    await press("Switch to openai/gpt-5.6?");
    app.type("y");
    await app.waitForText(/^openai\/gpt-5.6 · /);
    await app.quit();
  });
});

describe("/effort", () => {
  it("changes the effort of later requests, and refuses an unknown one", async () => {
    const [app] = await started();
    app.submit("/effort most");
    await app.waitForText('Unknown effort "most". Available: default, none, low, medium, high.');
    app.submit("/effort high");
    await app.waitForText("Effort: high, from the next request.");
    await app.waitForText(/^offline\/parley · effort high · \d+% of /);
    app.submit("/effort default");
    await app.waitForText(/^offline\/parley · \d+% of /);
    await app.quit();
  });
});
