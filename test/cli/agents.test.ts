import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-agents-")));
  mkdirSync(join(base, "project"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const parley = (...args: readonly string[]): Promise<Ran> =>
  runCommand(args, { cwd: join(base, "project"), env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base } });
const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await parley(...args, "--json")).out) as Record<string, unknown>;

const putPlugin = (): void => {
  put("dev/.claude-plugin/plugin.json", '{"name": "dev"}');
  put("dev/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\nText");
  put("dev/commands/commit.md", "---\ndescription: commits\n---\nCommit");
  put("dev/agents/reviewer.md", "---\nname: reviewer\ndescription: reviews\nmodel: haiku\n---\nReview.");
  put(
    "dev/hooks/hooks.json",
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "true" }] }] } }),
  );
};

describe("parley agents", () => {
  it("lists a remote agent by its address, and never its credential", async () => {
    const auth = "auth:\n  type: apiKey\n  key: sk-secret-value";
    put(
      ".gemini/agents/far.md",
      `---\nkind: remote\nname: far\nagent_card_url: https://agents.example.com/card.json\n${auth}\n---\n`,
    );
    const { out } = await parley("agents", "--json");
    expect(JSON.parse(out)).toMatchObject({ agents: [{ name: "far", url: "https://agents.example.com/card.json" }] });
    expect(out).not.toContain("sk-secret");
    expect((await parley("agents")).out).toMatch(/far +user +remote +https:\/\/agents\.example\.com\/card\.json/);
  });

  it("lists each agent with its model, tools, file and problems", async () => {
    put(
      ".claude/agents/reviewer.md",
      [
        "---",
        "name: reviewer",
        "description: Reviews changes.",
        "tools: Read, Grep, Teleport, mcp__github__search",
        "disallowedTools: [Bash]",
        "model: opus",
        "background: true",
        "maxTurns: 5",
        "permissionMode: plan",
        "color: red",
        "---",
        "Review.",
      ].join("\n"),
    );
    put(".gemini/agents/reviewer.md", "---\nname: reviewer\nkind: local\ntools: ['*']\n---\nOther.");
    put(".gemini/agents/notes.md", "no front matter");
    put("project/.claude/agents/local.md", "---\nname: local\n---\nX");
    const { agents, notes } = await json("agents");
    const gemini = join(base, ".gemini/agents/reviewer.md");
    expect(agents).toEqual([
      {
        name: "reviewer",
        description: "Reviews changes.",
        tools: ["read_file", "search_file_content", "Teleport", "mcp__github__search"],
        disallowedTools: ["run_shell_command"],
        model: "opus",
        background: true,
        maxTurns: 5,
        file: join(base, ".claude/agents/reviewer.md"),
        source: "user",
        shadowedBy: gemini,
        notes: ["there is no tool Teleport", "permissionMode has no effect here"],
      },
      { name: "reviewer", description: "", file: gemini, source: "user", notes: [] },
    ]);
    expect(notes).toEqual([
      ".gemini/agents/notes.md does not define an agent: front matter is missing.",
      expect.stringContaining("is not trusted, so its agents are not used"),
    ]);
    await parley("trust", ".");
    expect((await parley("agents", "list")).out).toContain(
      `local     project  same model  all tools              ${join(base, "project/.claude/agents/local.md")}`,
    );
  });

  it("prints nothing that acts on the terminal", async () => {
    put(".claude/agents/x.md", '---\nname: x\nmodel: "a\\e[2Jb"\n"\\e]0;t\\a": 1\n---\nX');
    expect((await parley("agents")).out).not.toMatch(/\p{Cc}(?<!\n)/u);
  });
});

describe("the lists of agents, skills, commands and hooks", () => {
  it("show what a plugin brings and that it is of the plugin, for the kinds the person agreed to", async () => {
    putPlugin();
    expect((await parley("plugins", "add", "../dev", "--yes")).code).toBe(0);
    expect(await json("agents")).toMatchObject({
      agents: [{ name: "dev:reviewer", source: "plugin dev", model: "haiku" }],
    });
    expect(await json("skills")).toMatchObject({ skills: [{ name: "dev:pdf", source: "plugin" }] });
    expect(await json("commands")).toMatchObject({ commands: [{ name: "dev:commit", source: "plugin dev" }] });
    expect(await json("hooks")).toMatchObject({ hooks: [{ source: "plugin dev", state: "runs", hook: "true" }] });
    await parley("plugins", "disable", "dev");
    expect(await json("agents")).toMatchObject({ agents: [] });
    expect(await json("hooks")).toMatchObject({ hooks: [] });
  });
});
