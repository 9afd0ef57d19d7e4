import { describe, expect, it } from "vitest";
import { lineText, lineWidth } from "../text/line.ts";
import { viewStatusLine, type StatusLine } from "./status-line.ts";

const status: StatusLine = {
  model: "anthropic/claude-sonnet-5",
  used: 30_000,
  size: 200_000,
  last: { input: 100, output: 1, cachedRead: 90, cachedWrite: 0, reasoning: 0 },
  spent: { requests: 1, input: 0, cachedRead: 0, output: 0, cost: 0.1234, unpriced: 0 },
  mode: "auto_edit",
  isTrusted: false,
  isSandboxed: true,
  starting: ["files"],
  missing: ["web"],
  ide: undefined,
};

const shown = (width: number): string => lineText(viewStatusLine(status, width));

describe("the status line", () => {
  it("has the model on the left and permissions on the right, and leaves out the least important first", () => {
    expect([130, 100, 80, 60, 40].map(shown)).toEqual([
      "anthropic/claude-sonnet-5 · 15% of 200k · 90% cached · $0.123 · starting files · without web     not trusted · sandbox · auto_edit",
      "anthropic/claude-sonnet-5 · 15% of 200k · $0.123 · without web     not trusted · sandbox · auto_edit",
      "anthropic/claude-sonnet-5 · without web        not trusted · sandbox · auto_edit",
      "anthropic/claude-sonnet-5  not trusted · sandbox · auto_edit",
      "anth…  not trusted · sandbox · auto_edit",
    ]);
  });

  it("names the editor and what it shows rather than the cache share", () => {
    const beside = { ...status, isTrusted: true, isSandboxed: false, missing: [], ide: "Neovim: a.ts, line 2" };
    expect(lineText(viewStatusLine(beside, 90))).toBe(
      "anthropic/claude-sonnet-5 · 15% of 200k · $0.123 · Neovim: a.ts, line 2          auto_edit",
    );
  });

  it("is never wider than the terminal", () => {
    for (let width = 1; width < 140; width++)
      expect(lineWidth(viewStatusLine(status, width))).toBeLessThanOrEqual(width);
  });
});
