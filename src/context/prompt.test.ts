import { describe, expect, it } from "vitest";
import { builtins } from "../tools/all.ts";
import { declarationOf } from "../tools/declare.ts";
import { promptParts } from "./prompt-parts.ts";
import { defaultPrompt, type PromptSetting } from "./prompt.ts";

const tools = builtins.map(({ name }) => name);
const usual: PromptSetting = { isInteractive: true, isSandboxed: false, hasGit: true, tools };
const lines = promptParts.flatMap((part) => part.lines);
const said = (setting: Partial<PromptSetting>): readonly string[] => {
  const prompt = defaultPrompt({ ...usual, ...setting });
  return lines.flatMap(({ text }) => (prompt.includes(text) ? [text] : []));
};

describe("the system prompt", () => {
  it("takes at most 4 kB, and 14 kB with all declarations", async () => {
    const declared = JSON.stringify(await Promise.all(builtins.map(declarationOf)));
    for (const isInteractive of [true, false])
      for (const isSandboxed of [true, false]) {
        const bytes = Buffer.byteLength(defaultPrompt({ ...usual, isInteractive, isSandboxed }));
        expect(bytes).toBeGreaterThan(2000);
        expect(bytes).toBeLessThan(4000);
        expect(bytes + Buffer.byteLength(declared)).toBeLessThan(14_000);
      }
  });

  it.each([
    ["interactive", { isInteractive: true }, { isInteractive: false }],
    ["headless", { isInteractive: false }, { isInteractive: true }],
    ["sandboxed", { isSandboxed: true }, { isSandboxed: false }],
    ["unsandboxed", { isSandboxed: false }, { isSandboxed: true }],
    ["git", { hasGit: true }, { hasGit: false }],
  ] as const)("says what holds %s, and only then", (when, there, elsewhere) => {
    const meant = lines.filter((line) => line.when === when).map(({ text }) => text);
    expect(meant.length).toBeGreaterThan(0);
    expect(said(there)).toEqual(expect.arrayContaining(meant));
    for (const text of meant) expect(said(elsewhere)).not.toContain(text);
  });

  it("names no tool that is not offered", () => {
    const prompt = defaultPrompt({ ...usual, tools: [] });
    for (const name of tools.filter((each) => each.includes("_"))) expect(prompt).not.toContain(name);
    expect(said({ tools: [] }).length).toBeGreaterThan(8);
  });

  it("names only tools there are", () => {
    const named = lines.flatMap(({ text, needs = [] }) => [...needs, ...(text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [])]);
    expect(named.filter((name) => ![...tools, "old_string"].includes(name))).toEqual([]);
  });

  it("is the same for the same setting, under headings in order", () => {
    expect(defaultPrompt(usual)).toBe(defaultPrompt({ ...usual, tools: [...tools].toReversed() }));
    expect(defaultPrompt(usual).match(/^# .*$/gm)).toEqual(["# How to work", "# Tools", "# Safety", "# Answers"]);
  });
});
