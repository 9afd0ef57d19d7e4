import { describe, expect, it } from "vitest";
import type { SlashCommandContext } from "../slash-command.ts";
import { showCost } from "./stats.ts";

const usage = (input: number, cachedRead: number, output: number) => ({
  input,
  cachedRead,
  cachedWrite: 0,
  output,
  reasoning: 0,
});

const shown = async (
  requests: readonly { readonly model: string; readonly usage: object }[],
  models: object = {},
): Promise<string> => {
  const texts: string[] = [];
  await showCost("", {
    requests: () => requests,
    loaded: () => ({ settings: { models } }),
    info: (text: string) => texts.push(text),
    printMarkdown: async (text: string) => texts.push(text),
  } as unknown as SlashCommandContext);
  return texts.join("\n");
};

describe("/cost", () => {
  it("shows money by model and for the last requests, and names what has no price", async () => {
    const lines = (
      await shown([
        { model: "anthropic/claude-sonnet-5", usage: usage(1_000_000, 0, 0) },
        { model: "local/unknown", usage: usage(2000, 1000, 10) },
        { model: "anthropic/claude-sonnet-5", usage: usage(1000, 0, 0) },
      ])
    ).split("\n");
    expect(lines[0]).toMatch(
      /^\$\d+\.\d\d and 1 request without a known price for 3 requests since the session was opened\.$/,
    );
    expect(lines.slice(2, 6)).toEqual([
      "| model | requests | tokens in, cached, out | cost |",
      "| --- | ---: | ---: | ---: |",
      expect.stringMatching(/^\| anthropic\/claude-sonnet-5 \| 2 \| 1M, 0, 0 \| \$\d+\.\d\d \|$/),
      "| local/unknown | 1 | 2k, 1k, 10 | Price unknown |",
    ]);
    expect(lines[7]).toMatch(/^Last requests: \$\d+\.\d\d, unknown, \$0\.\d{4}$/);
  });

  it("uses the price of the user's settings", async () => {
    const described = { "local/own": { price: { input: 3, output: 5 } } };
    const lines = (await shown([{ model: "local/own", usage: usage(1_000_000, 0, 1_000_000) }], described)).split("\n");
    expect(lines[0]).toBe("$8.00 for 1 request since the session was opened.");
  });

  it("says that nothing was requested yet", async () => {
    expect(await shown([])).toBe("No requests since the session was opened. See /stats for tools and tokens.");
  });
});
