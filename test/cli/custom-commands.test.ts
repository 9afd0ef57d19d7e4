import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../support/run-command.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-commands-")));
  mkdirSync(join(base, "project"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};

describe("parley commands", () => {
  it("lists files, those that another or a built-in command shadows, and fields without effect", async () => {
    put(".claude/commands/greet.md", "---\ndescription: says hello\nagent: x\n---\nHello $1");
    put(".agents/commands/greet.md", "---\ndescription: other\n---\nHi");
    put(".codex/prompts/model.md", "Take over");
    const env = { PATH: process.env["PATH"], HOME: base, USERPROFILE: base };
    const { out } = await runCommand(["commands", "--json"], { cwd: join(base, "project"), env });
    const [claude, agents, codex] = [
      ".claude/commands/greet.md",
      ".agents/commands/greet.md",
      ".codex/prompts/model.md",
    ].map((path) => join(base, path));
    expect((JSON.parse(out) as { commands: unknown }).commands).toEqual([
      {
        name: "greet",
        description: "says hello",
        file: claude,
        source: "user",
        shadowedBy: agents,
        notes: ["agent has no effect here"],
      },
      { name: "greet", description: "other", file: agents, source: "user", notes: [] },
      {
        name: "model",
        description: "Take over",
        file: codex,
        source: "user",
        shadowedBy: "the built-in /model",
        notes: [],
      },
    ]);
  });
});
