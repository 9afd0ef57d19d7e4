import { expect, it } from "vitest";
import type { ExchangeRecord } from "../wire/exchange.ts";
import { createExchangeLog } from "./exchange-log.ts";

const record = (text: string): ExchangeRecord => ({
  at: "2026-11-15T00:00:00.000Z",
  client: "one",
  model: "m",
  in: { api: "anthropic", body: { text } },
  notes: [],
  status: 200,
  took: 1,
});

it("moves a full log aside and begins another one, counting the bytes of an earlier run", () => {
  const files: string[] = [""];
  const file = {
    size: 500,
    append: (text: string) => void (files[files.length - 1] += text),
    rotate: () => void files.push(""),
  };
  const log = createExchangeLog({ file, redact: (text) => text, maxBytes: 1000 });
  const names = ["ä".repeat(100), "b".repeat(200), "c".repeat(900), "d", "e"];
  for (const name of names) log(record(name));
  const kept = files.map((text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { in: { body: { text: string } } }).in.body.text.charAt(0)),
  );
  // 500 bytes were there; an umlaut has two.
  expect(kept).toEqual([["ä"], ["b"], ["c"], ["d", "e"]]);
});

it("redacts secrets and cuts very long texts", () => {
  let written = "";
  const log = createExchangeLog({
    file: { append: (text) => (written += text), rotate: () => undefined },
    redact: (text) => text.replaceAll("secret", "[redacted]"),
  });
  log(record(`secret ${"x".repeat(300 * 1024)}`));
  expect(written).not.toContain("secret");
  expect((JSON.parse(written) as ExchangeRecord).in.body).toEqual({
    text: expect.stringMatching(/^\[redacted\] x+\.\.\. \(\d+ more characters\)$/),
  });
});
