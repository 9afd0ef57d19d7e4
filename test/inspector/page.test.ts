import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, done, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import { inspectConversation, inspectSession, type Inspected } from "../../src/inspect/data/inspected.ts";
import { exportHtml } from "../../src/inspect/export.tsx";
import { openExchangeLog } from "../../src/inspect/server/exchange-log.ts";
import { serveInspector, type RunningInspector } from "../../src/inspect/server/serve.ts";
import { createRedactor } from "../../src/policy/secrets/redact.ts";
import type { NewRecord } from "../../src/session/log/record.ts";
import { createSessionFixture, root } from "../../src/session/session.cases.ts";
import { hasBrowser, startBrowser, type TestBrowser } from "./browser.ts";
import { exchangeRecord } from "./exchange-record.ts";
import { createRichSession, type RichSession } from "./rich-session.ts";

describe.skipIf(!hasBrowser)("the inspector page in a browser", () => {
  let browser: TestBrowser;
  let rich: RichSession;
  const servers: RunningInspector[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    rich = await createRichSession();
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await browser?.close();
  });

  const serve = async (inspected?: Inspected): Promise<string> => {
    const source =
      inspected === undefined ? rich.source : { load: async () => inspected, revision: async () => undefined };
    const server = await serveInspector(source, { world: rich.world, interval: 20 });
    servers.push(server);
    return server.url;
  };
  const openRich = async (route = ""): Promise<Page> => {
    const page = await browser.open(`${await serve()}${route}`);
    await page.waitForSelector("nav");
    return page;
  };

  it("shows the conversation: Markdown, edits, images, thinking, calls with state and time", async () => {
    const page = await openRich();
    await page.waitForSelector("img");
    expect(await page.locator("h1").innerText()).toContain("Find the flaky test");
    expect(await page.locator("table td").allInnerTexts()).toEqual([
      "queue.test.ts",
      "3 of 30",
      "store.test.ts",
      "0 of 30",
    ]);
    expect(
      await page
        .locator("img")
        .first()
        .evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(320);
    expect(await page.locator(".call .status").first().innerText()).toBe("done");
    expect(
      await page
        .locator(".thinking")
        .first()
        .evaluate((details: HTMLDetailsElement) => details.open),
    ).toBe(false);
    expect(await page.evaluate(() => location.hash)).not.toContain("token");
    await page.close();
  });

  it("shows the conversation as three models get it, with notes and ids where they belong", async () => {
    const page = await openRich("&/models/3?for=anthropic/claude-sonnet-5,openai/gpt-5.6,google/gemini-3-pro");
    const row = page.locator(".item.current");
    await row.locator(".cell").nth(2).waitFor();
    expect(await row.locator(".note-kind").allInnerTexts()).toEqual([
      "thinking dropped",
      "thinking dropped",
      "signature filler",
    ]);
    expect(await row.locator('.cell[data-model="openai/gpt-5.6"] .id').first().innerText()).toBe(
      "hist_tool_1 → call_1",
    );
    expect(await page.locator(".column-head .verdict-good").count()).toBe(3);
    await page.close();
  });

  it("shows each request against the one before it, and the sum of all", async () => {
    const page = await openRich("&/requests/2");
    await page.waitForSelector(".prefix");
    expect(await page.locator(".comparison h2").innerText()).toBe("Request 2 anthropic/claude-sonnet-5");
    expect(await page.locator(".comparison").innerText()).toContain("all of that can be read from the cache");
    expect(await page.locator(".prefix-point").count()).toBe(1);
    expect(await page.locator(".scroller .totals dd").first().innerText()).toBe("5");
    await page.close();
  });

  it("checks a switch, and lints and converts a pasted body without sending it", async () => {
    const page = await openRich("&/switch?for=anthropic/claude-sonnet-5");
    await page.waitForSelector(".verdict-good");
    const sent: string[] = [];
    page.on("request", (request) => sent.push(new URL(request.url()).pathname));
    await page.keyboard.press("6");
    await page
      .locator("textarea")
      .fill('{"model":"gpt-4o","messages":[{"role":"tool","tool_call_id":"x","content":"lost"}]}');
    await page.locator("button.primary").click();
    await page.waitForSelector(".verdict-bad");
    expect(await page.locator(".verdict-good").count()).toBe(1);
    expect(await page.locator("pre").last().innerText()).toContain('"role": "user"');
    expect(sent).toEqual(["/lint.js"]);
    await page.close();
  });

  it("lists the exchanges of a log, and shows both requests of one side by side", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "parley-exchanges-")), "log.jsonl");
    writeFileSync(path, `${JSON.stringify(exchangeRecord())}\n`);
    const server = await serveInspector(openExchangeLog(path, "log.jsonl"), { world: rich.world, interval: 20 });
    servers.push(server);
    const page = await browser.open(server.url);
    await page.waitForSelector(".exchange-heads");
    expect(await page.locator(".comparison .note-kind").first().innerText()).toBe("media stub");
    expect(await page.locator(".exchange-heads .verdict-good").count()).toBe(2);
    expect(await page.locator(".aligned").count()).toBe(3);
    appendFileSync(path, `${JSON.stringify({ ...exchangeRecord(), client: "script", status: 429 })}\n`);
    await page.locator(".request").nth(1).waitFor();
    await page.keyboard.press("k");
    expect(await page.evaluate(() => location.hash)).toBe("#/exchanges/1");
    await page.locator(".filter").fill("script 429");
    await page.locator(".request").nth(1).waitFor({ state: "detached" });
    await page.close();
    rmSync(dirname(path), { recursive: true });
  });

  it("is used with the keyboard alone", async () => {
    const page = await openRich();
    await page.waitForSelector(".row-user");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    expect(await page.evaluate(() => location.hash)).toBe("#/conversation/2");
    await page.keyboard.press("G");
    expect(await page.evaluate(() => location.hash)).toBe("#/conversation/15");
    await page.keyboard.press("/");
    await page.keyboard.type("drain()");
    await page.waitForSelector(".hit");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => location.hash)).toBe("#/conversation/6");
    await page.keyboard.press("Escape");
    await page.keyboard.press("3");
    await page.waitForSelector(".prefix");
    await page.keyboard.press("k");
    expect(await page.evaluate(() => location.hash)).toBe("#/requests/4");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    await page.keyboard.press("t");
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await page.close();
  });

  it("follows a session that grows", async () => {
    const page = await openRich();
    await page.waitForSelector(".row-user");
    await page.keyboard.press("f");
    await rich.say("Written while you look.");
    await page.getByText("Written while you look.").waitFor();
    await page.close();
  });

  it("opens a conversation of 10,000 entries and keeps few nodes in the document", async () => {
    const page = await browser.open(await serve(longConversation(10_000)));
    await page.waitForSelector(".row");
    const nodes = (): Promise<number> => page.evaluate(() => document.querySelectorAll("*").length);
    expect(await nodes()).toBeLessThan(2000);
    await page.keyboard.press("G");
    await page.getByText("Answer 10000").waitFor();
    expect(await nodes()).toBeLessThan(2000);
    await page.keyboard.press("2");
    await page.locator(".cell").first().waitFor();
    expect(await nodes()).toBeLessThan(6000);
    await page.close();
  });

  it("keeps everything that was written as text", async () => {
    const page = await browser.open(await serve(await hostileSession()));
    await page.waitForSelector(".row");
    const views = { "1": ".row-notice", "2": ".cell", "3": ".prefix", "4": ".stack", "5": ".verdict" };
    for (const [key, ready] of Object.entries(views)) {
      await page.keyboard.press(key);
      await page.waitForSelector(ready, { state: "attached" });
      for (const summary of await page.locator("main summary").all()) await summary.click();
      await expectTextOnly(page);
    }
    await page.locator(".tools input").fill("hacked");
    await page.waitForSelector(".hit");
    await expectTextOnly(page);
    await page.keyboard.press("Escape");
    await page.evaluate(() => (location.hash = "#/lint"));
    await page
      .locator("textarea")
      .fill(JSON.stringify({ model: attacks, messages: [{ role: "tool", tool_call_id: attacks, content: attacks }] }));
    await page.locator("button.primary").click();
    await page.waitForSelector(".verdict-bad");
    await expectTextOnly(page);
    await page.close();
  });

  it("keeps everything that an exchange log says as text", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "parley-exchanges-")), "log.jsonl");
    writeFileSync(
      path,
      hostileExchanges()
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
    const server = await serveInspector(openExchangeLog(path, attacks), { world: rich.world, interval: 20 });
    servers.push(server);
    const page = await browser.open(server.url);
    await page.waitForSelector(".exchange-heads");
    for (const number of [1, 2, 3]) {
      await page.evaluate((hash) => (location.hash = hash), `#/exchanges/${number}`);
      await page.locator('.request[aria-pressed="true"]').getByText(`${number}`, { exact: true }).first().waitFor();
      for (const summary of await page.locator("main summary").all()) await summary.click();
      await expectTextOnly(page);
    }
    await page.locator(".filter").fill(attacks.split("\n")[0]!);
    await expectTextOnly(page);
    await page.close();
    rmSync(dirname(path), { recursive: true });
  });

  it("exports a file that reads the same, runs nothing and loads nothing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-export-"));
    const { session } = hostileConversation();
    const { html } = await exportHtml(session, { redactor: createRedactor(), images: "bounded" });
    writeFileSync(join(folder, "session.html"), html);
    const page = await browser.open(pathToFileURL(join(folder, "session.html")).href);
    expect(await page.locator(".item").count()).toBe(3);
    expect(await page.locator("script, svg, iframe, [onerror]").count()).toBe(0);
    await page.close();
    rmSync(folder, { recursive: true });
  });

  it("is under 200 kB compressed", () => {
    const files = ["index.html", "app.js", "app.css", "lint.js", "icon.svg"];
    const sizes = files.map(
      (file) => gzipSync(readFileSync(new URL(`../../dist/inspector/${file}`, import.meta.url))).length,
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(200_000);
  });

  it("made no request beyond loopback, violated no policy and threw no error in all of this", () => {
    expect(browser.faults).toEqual([]);
  });
});

/** Nothing of what was written became an element, a handler, a link to a script, a style or a terminal sequence. */
const expectTextOnly = async (page: Page): Promise<void> => {
  const found = await page.evaluate(() => ({
    elements: document.querySelectorAll("main :is(script, iframe, object, embed, svg, style, link, base, form, meta)")
      .length,
    handlers: [...document.querySelectorAll("main *")].filter((element) =>
      [...element.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    links: [...document.querySelectorAll("main a")].map((link) => (link as HTMLAnchorElement).protocol),
    controls: ["\u001b", "\u0007", "\u202e"].some((character) =>
      document.querySelector("main")?.textContent?.includes(character),
    ),
    ran: "hacked" in globalThis,
  }));
  expect(found.elements + found.handlers).toBe(0);
  expect(found.links.filter((protocol) => !/^(https?|mailto):$/.test(protocol))).toEqual([]);
  expect([found.ran, found.controls]).toEqual([false, false]);
};

const longConversation = (count: number): Inspected => {
  const ledger = new Ledger();
  for (let number = 1; number <= count / 2; number += 1) {
    ledger.user([text(`Question ${number * 2 - 1}: ${"why ".repeat(number % 40)}`)]);
    ledger.model({ provider: "anthropic", model: "claude-sonnet-5" }, [
      text(`Answer ${number * 2}\n\n- one\n- **two**`),
    ]);
  }
  return inspectConversation({ version: 1, entries: ledger.entries, blobs: {} }, "long.json");
};

/** Every way in which text could become more than text. */
const attacks = [
  "<script>globalThis.hacked = 1</script>",
  '<img src=x onerror="globalThis.hacked = 1">',
  '<svg onload="globalThis.hacked = 1"><script>globalThis.hacked = 1</script></svg>',
  "<style>*{background:url(http://evil.test/x)}</style><link rel=stylesheet href=http://evil.test/y>",
  "<base href=http://evil.test/><meta http-equiv=refresh content='0;url=http://evil.test/'><iframe src=http://evil.test></iframe>",
  "[a](javascript:globalThis.hacked=1) [b](data:text/html,<script>globalThis.hacked=1</script>) [c](vbscript:x) <javascript:globalThis.hacked=1>",
  '[d](http://good.test/ "onclick=alert(1)") ![e](http://evil.test/pixel.png) <https://good.test>',
  "```html\n</code></pre><script>globalThis.hacked = 1</script>\n```",
  "\u001b]8;;http://evil.test\u0007click\u001b]8;;\u0007 \u001b[2J \u202Egnp.exe",
  `${"> ".repeat(200)}deep ${"*".repeat(2000)} ${"[".repeat(2000)}`,
  "| a | b |\n| --- | --- |\n| <script>globalThis.hacked = 1</script> | x |",
].join("\n\n");

const hostileConversation = (): Inspected => {
  const ledger = new Ledger();
  const image = storeBytes(
    new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.hacked=1"/>'),
    {
      mimeType: "image/svg+xml",
      name: '"><script>globalThis.hacked=1</script>.svg',
    },
  );
  ledger.user([text(attacks), image.media]);
  const [made] = ledger.model({ provider: "<script>", model: '"><img src=x onerror=globalThis.hacked=1>' }, [
    { type: "thinking", text: attacks },
    text(attacks),
    { type: "code", language: '"><script>', text: attacks },
    call('t"><script>globalThis.hacked=1</script>', { path: attacks, file_path: attacks, content: attacks }),
  ]);
  ledger.complete(made!.id, "t", done(attacks, image.media));
  ledger.notice(attacks);
  return inspectConversation(
    { version: 1, system: attacks, entries: ledger.entries, blobs: { [image.blob.hash]: image.blob.base64 } },
    attacks.slice(0, 100),
  );
};

/** The hostile conversation as a session with requests, under a hostile title. */
const hostileSession = async (): Promise<Inspected> => {
  const { sessions } = createSessionFixture();
  const model = { provider: "anthropic", model: "claude-sonnet-5" };
  const { session } = hostileConversation();
  const created = await sessions.create({ root, system: attacks, tools: [], model });
  await created.storeBlobs(session.blobs);
  const request: NewRecord = { kind: "request", ...model, turn: 1, notes: [], usage: { input: 9, output: 9 } };
  const records = session.entries.map((entry): NewRecord => ({ kind: "entry", entry }));
  await created.append([{ kind: "title", title: attacks }, records[0]!, request, ...records.slice(1), request]);
  await created.close();
  return inspectSession(await sessions.read(created.id));
};

/** Exchanges in which every text of a client, a model and a provider is an attack: one answered, one refused, one unreadable. */
const hostileExchanges = (): readonly object[] => {
  const body = {
    model: attacks,
    messages: [
      { role: "system", content: attacks },
      { role: "user", content: [{ type: "text", text: attacks }] },
      {
        role: "assistant",
        content: attacks,
        tool_calls: [{ id: attacks, type: "function", function: { name: attacks, arguments: attacks } }],
      },
      { role: "tool", tool_call_id: attacks, content: attacks },
    ],
    tools: [{ type: "function", function: { name: attacks, description: attacks, parameters: { title: attacks } } }],
    [attacks]: attacks,
  };
  const answered = {
    ...exchangeRecord(),
    client: attacks,
    model: attacks,
    in: { api: "openai-chat", body },
    out: { provider: attacks, model: attacks, body },
    notes: [{ kind: "media-stub", text: attacks, name: attacks }],
  };
  return [
    answered,
    { ...answered, out: undefined, status: 500, error: attacks },
    { ...answered, in: { api: attacks, body: attacks }, out: { provider: "anthropic", model: "m", body: attacks } },
  ];
};
