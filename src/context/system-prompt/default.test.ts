import { describe, expect, it } from "vitest";
import { builtinTools } from "../../tools/builtins.ts";
import { declareTool } from "../../tools/declare.ts";
import { promptSections } from "./sections.ts";
import { buildDefaultPrompt, type PromptConditions } from "./default.ts";

const tools = builtinTools.map(({ name }) => name);
const usual: PromptConditions = { isInteractive: true, isSandboxed: false, hasGit: true, tools };
const lines = promptSections.flatMap((part) => part.lines);
const said = (setting: Partial<PromptConditions>): readonly string[] => {
  const prompt = buildDefaultPrompt({ ...usual, ...setting });
  return lines.flatMap(({ text }) => (prompt.includes(text) ? [text] : []));
};

describe("the system prompt", () => {
  it("takes at most 4 kB, and 14 kB with all declarations", async () => {
    const declared = JSON.stringify(await Promise.all(builtinTools.map(declareTool)));
    for (const isInteractive of [true, false])
      for (const isSandboxed of [true, false]) {
        const bytes = Buffer.byteLength(buildDefaultPrompt({ ...usual, isInteractive, isSandboxed }));
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
    const prompt = buildDefaultPrompt({ ...usual, tools: [] });
    for (const name of tools.filter((each) => each.includes("_"))) expect(prompt).not.toContain(name);
    expect(said({ tools: [] }).length).toBeGreaterThan(8);
  });

  it("names only tools there are", () => {
    const named = lines.flatMap(({ text, needs = [] }) => [...needs, ...(text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [])]);
    expect(named.filter((name) => ![...tools, "old_string"].includes(name))).toEqual([]);
  });

  it("is the same for the same setting, under headings in order", () => {
    expect(buildDefaultPrompt(usual)).toBe(buildDefaultPrompt({ ...usual, tools: [...tools].toReversed() }));
    expect(buildDefaultPrompt(usual).match(/^# .*$/gm)).toEqual(["# How to work", "# Tools", "# Safety", "# Answers"]);
  });
});
