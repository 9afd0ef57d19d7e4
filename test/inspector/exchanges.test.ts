import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { describeExchange, parseExchange } from "../../src/inspect/data/exchanges.ts";
import { isExchangeLog, openExchangeLog } from "../../src/inspect/server/exchange-log.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";
import { chatBody, exchangeRecord } from "./exchange-record.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-exchanges-"));
afterAll(() => rmSync(folder, { recursive: true }));
const line = (record: unknown): string => `${JSON.stringify(record)}\n`;

describe("an exchange", () => {
  it("shows both requests, aligned by the answers in them, with notes and findings", () => {
    const { row, notes, turns, in: received, out } = describeExchange(exchangeRecord(), 1);

    expect(row).toEqual({
      number: 1,
      at: Date.parse("2026-03-04T05:06:07.000Z"),
      client: "editor",
      model: "gpt-audio",
      api: "openai-chat",
      sentTo: "anthropic/claude-sonnet-5",
      status: 200,
      usage: { input: 1200, cachedRead: 1000, cachedWrite: 0, output: 90, reasoning: 0 },
      cost: 0.0042,
      took: 2100,
      notes: notes.length,
    });
    expect([received.wire, received.messages, received.findings.map(({ level }) => level)]).toEqual([
      "openai-chat",
      5,
      Array(4).fill("advice"),
    ]);
    expect([out?.wire, out?.messages, out?.findings]).toEqual(["anthropic", 3, []]);
    expect(turns.map(({ role, in: ours, out: theirs }) => [role, ours.map(at), theirs.map(at)])).toEqual([
      ["asked", [0, 1], [0]],
      ["answered", [2], [1]],
      ["asked", [3, 4], [2]],
    ]);
    expect(notes.map(({ kind }) => kind)).toEqual(["media-stub"]);
  });

  it("that was not sent has one request", () => {
    const { out, turns } = describeExchange({ ...refused(), error: "Unknown model." }, 2);
    expect(out).toBeUndefined();
    expect(turns.flatMap((turn) => turn.out)).toEqual([]);
  });

  it.each([
    ["a request body", chatBody],
    ["no body", { in: { api: "openai-chat" } }],
    ["no API", { in: { body: {} } }],
    ["a list", []],
  ])("is not %s", (_, value) => {
    expect(parseExchange(value)).toBeUndefined();
  });

  it("of another program's making is read as far as it goes", () => {
    expect(
      parseExchange({ in: { api: "x", body: 1 }, notes: [{ kind: 1 }, "a"], out: 5, usage: { input: "a" } }),
    ).toEqual({
      at: "",
      client: "",
      model: "",
      in: { api: "x", body: 1 },
      notes: [],
      usage: { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 },
      status: 0,
    });
  });
});

describe("an exchange log", () => {
  it("is recognized by its first line, and followed while it grows", async () => {
    const path = join(folder, "log.jsonl");
    writeFileSync(path, `${line(exchangeRecord())}broken\n${JSON.stringify(refused()).slice(0, 50)}`);
    expect(await isExchangeLog(path)).toBe(true);
    const source = openExchangeLog(path, "log.jsonl");
    const before = await source.revision();
    const first = (await source.load()).exchanges;
    expect([first?.rows.map(({ number }) => number), first?.invalid]).toEqual([[1], 1]);

    appendFileSync(path, `${JSON.stringify(refused()).slice(50)}\n${line(exchangeRecord())}`);
    expect(await source.revision()).not.toBe(before);
    const grown = (await source.load()).exchanges;
    expect(grown?.rows.map(({ number, status }) => [number, status])).toEqual([
      [1, 200],
      [2, 404],
      [3, 200],
    ]);
    expect(await grown?.read(2)).toEqual(refused());
    expect(await grown?.read(4)).toBeUndefined();

    writeFileSync(path, line(refused()));
    expect((await source.load()).exchanges?.rows.length).toBe(1);
  });

  it("is not a body, a conversation or an empty file", async () => {
    const files = { "body.json": JSON.stringify(chatBody), "pretty.json": "{\n}\n", "empty.json": "" };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, name), text);
      expect(await isExchangeLog(join(folder, name))).toBe(false);
    }
  });
});

const at = ({ message }: { readonly message: number }): number => message;

const refused = (): ExchangeRecord => {
  const { out: _, usage: __, cost: ___, ...rest } = exchangeRecord();
  return { ...rest, notes: [], status: 404 };
};
