import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openExchangeLog } from "../../src/inspect/server/exchange-log.ts";
import { serveInspector, type RunningInspector } from "../../src/inspect/server/serve.ts";
import { exchangeRecord } from "./exchange-record.ts";
import { createRichSession } from "./rich-session.ts";

/** A view of the page: its route, and what is there once it is complete. */
export type PageView = {
  readonly name: string;
  readonly source: "session" | "exchanges";
  readonly route: string;
  readonly ready: string;
  /** Brings the view into the state that is looked at. */
  readonly prepare?: (page: Page) => Promise<void>;
};

/** Every view, in every state that looks different. */
export const pageViews: readonly PageView[] = [
  { name: "conversation", source: "session", route: "", ready: ".row-model img" },
  {
    name: "conversation-open",
    source: "session",
    route: "&/conversation/6",
    ready: ".row-model img",
    prepare: (page) => page.keyboard.press("o"),
  },
  {
    name: "search",
    source: "session",
    route: "",
    ready: ".row-user",
    prepare: async (page) => {
      await page.locator(".tools input").fill("queue");
      await page.waitForSelector(".hit");
    },
  },
  {
    name: "models-two",
    source: "session",
    route: "&/models?for=anthropic/claude-sonnet-5,openai/gpt-5.6",
    ready: ".cell",
  },
  {
    name: "models-three",
    source: "session",
    route: "&/models/6?for=anthropic/claude-sonnet-5,openai/gpt-5.6,google/gemini-3-pro",
    ready: ".item.current .cell",
  },
  { name: "requests", source: "session", route: "&/requests/4", ready: ".prefix" },
  { name: "requests-other-model", source: "session", route: "&/requests/3", ready: ".prefix" },
  {
    name: "composition",
    source: "session",
    route: "&/composition?for=anthropic/claude-sonnet-5",
    ready: ".stack",
    prepare: (page) => page.locator(".share summary").first().click(),
  },
  { name: "switch", source: "session", route: "&/switch?for=anthropic/claude-sonnet-5", ready: ".verdict" },
  {
    name: "lint",
    source: "session",
    route: "&/lint",
    ready: "textarea",
    prepare: async (page) => {
      await page.locator("textarea").fill(brokenBody);
      await page.locator("button.primary").click();
      await page.waitForSelector(".verdict-bad");
    },
  },
  {
    name: "help",
    source: "session",
    route: "",
    ready: ".row-user",
    prepare: async (page) => {
      await page.keyboard.press("?");
      await page.waitForSelector("dialog[open]");
    },
  },
  { name: "exchanges", source: "exchanges", route: "", ready: ".exchange-heads" },
];

const brokenBody =
  '{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"},{"role":"tool","tool_call_id":"x","content":"lost"}]}';

/** Both sources, served. */
export type ServedSources = {
  readonly urls: Readonly<Record<PageView["source"], string>>;
  readonly close: () => Promise<void>;
};

export const serveSources = async (): Promise<ServedSources> => {
  const { source, world } = await createRichSession();
  const folder = mkdtempSync(join(tmpdir(), "parley-views-"));
  const path = join(folder, "exchanges.jsonl");
  writeFileSync(path, exchangeLines());
  const servers: readonly RunningInspector[] = [
    await serveInspector(source, { world }),
    await serveInspector(openExchangeLog(path, "exchanges.jsonl"), { world }),
  ];
  return {
    urls: { session: servers[0]?.url ?? "", exchanges: servers[1]?.url ?? "" },
    close: async () => {
      for (const server of servers) await server.close();
      rmSync(folder, { recursive: true });
    },
  };
};

const exchangeLines = (): string => {
  const { out: _, usage: __, cost: ___, ...refused } = exchangeRecord();
  const records = [
    exchangeRecord(),
    { ...refused, notes: [], status: 429, error: "Anthropic asks to slow down. Try again in 30 s." },
    { ...exchangeRecord(), client: "nightly-report" },
  ];
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
};
