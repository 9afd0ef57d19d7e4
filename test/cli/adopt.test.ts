import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createChecklist, renderChecklist, updateChecklist } from "../../src/cli/checklist.ts";
import { bin, ensureBuilt, type Ran } from "../built.ts";
import { makeStory } from "../support/foreign/story.ts";
import { storyWriters } from "../support/foreign/writers.ts";
import { runCommand } from "../support/run-command.ts";
import { runInTerminal } from "../tui/terminal.ts";

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-adopt-")));
  project = join(base, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (path: string, value: unknown): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), typeof value === "string" ? value : JSON.stringify(value));
};
const parley = (...args: readonly string[]): Promise<Ran> =>
  runCommand(args, { cwd: project, env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base } });

/** Every file below the home folder and its content, without Parley's own folder. */
const foreignTree = (): object =>
  Object.fromEntries(
    readdirSync(base, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(base, ".parley")))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, readFileSync(path, "utf8")]),
  );

const fillMachine = (): void => {
  put(".claude/settings.json", { permissions: { allow: ["Bash(npm test:*)"], deny: ["Read(.env)"] }, hooks: {} });
  put(".claude.json", {
    mcpServers: {
      files: { type: "stdio", command: "mcp-files", args: ["."], env: { TOKEN: "sk-secret-1234", LEVEL: "${LEVEL}" } },
      broken: { command: 5 },
    },
  });
  put(".claude/commands/a.md", "x");
  put(".claude/.credentials.json", '{"secret": "never-shown"}');
  put(".codex/config.toml", '[mcp_servers.docs]\nurl = "https://docs.test/mcp"\n');
  put(".codex/rules/mine.rules", 'prefix_rule(pattern=["ln"], decision="forbidden")\n');
  put(".config/opencode/opencode.json", {
    mcp: { local: { type: "local", command: ["srv", "-x"], environment: { K: "v" } } },
  });
  put(".qwen/settings.json", "{ this is not JSON");
};

const savedSessions = (): readonly string[] =>
  readdirSync(join(base, ".parley/sessions"), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".jsonl"),
  );

/** Things that are copied or imported, instead of only set. */
const fillAssets = (): void => {
  const hook = (command: string, args?: readonly string[]): object => ({ hooks: [{ type: "command", command, args }] });
  put(".claude/settings.json", {
    hooks: {
      PreToolUse: [{ matcher: "Bash", ...hook("guard.sh", ["--strict"]) }],
      Stop: [hook("bell")],
      Setup: [hook("x")],
    },
  });
  put(".codex/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\nText");
  put(".codex/skills/pdf/scripts/run.sh", "echo hi\n");
  put(".config/opencode/agent/review.md", "---\ndescription: Reviews.\ntools:\n  write: false\n---\nReview.");
  put(".pi/agent/prompts/fix.md", "Fix $ARGUMENTS");
  for (const [path, text] of Object.entries(storyWriters.claude!.write(makeStory(7), project))) put(path, text);
};

describe("parley adopt", () => {
  it("lists what it finds, takes over what is chosen, names variables without values, and touches no other agent", async () => {
    fillMachine();
    put(".parley/settings.json", '{\n  // mine\n  "sandbox": true\n}\n');
    const [before, settings] = [foreignTree(), readFileSync(join(base, ".parley/settings.json"), "utf8")];
    const { code, out, err } = await parley("adopt", "--all");
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line.startsWith("took over"))).toEqual([
      "took over deny Read(.env)",
      "took over deny run_shell_command(ln)",
      "took over MCP server files",
      "took over MCP server docs",
      "took over MCP server local",
    ]);
    expect(err).toContain("Values of variables were not copied. Set these in your environment: TOKEN, K.");
    expect(out + err).not.toMatch(/sk-secret|never-shown/);
    const after = readFileSync(join(base, ".parley/settings.json"), "utf8");
    expect(after).not.toContain("sk-secret");
    expect(after).toContain("${TOKEN}");
    expect(foreignTree()).toEqual(before);
    expect((await parley("adopt", "--undo")).out).toBe("Reversed the last adoption.\n");
    expect(readFileSync(join(base, ".parley/settings.json"), "utf8")).toBe(settings);
    expect((await parley("adopt", "--undo")).err).toContain("There is no adoption to reverse.");
  });

  it("reverses rules stored for a project, and refuses once settings changed", async () => {
    await parley("trust", ".");
    put("project/.claude/settings.json", { permissions: { deny: ["Bash(make:*)"] } });
    put(".claude/settings.json", { permissions: { deny: ["Read(.env)"] } });
    const before = readdirSync(join(base, ".parley"));
    await parley("adopt", "claude", "--only", "permissions");
    expect((await parley("permissions", "list")).out).toBe(
      "deny  run_shell_command(make)  this project\ndeny  Read(.env)               your settings\n",
    );
    await parley("adopt", "--undo");
    expect((await parley("permissions", "list")).out).toBe("");
    expect(readdirSync(join(base, ".parley")).filter((name) => name === "settings.json")).toEqual(
      before.filter((name) => name === "settings.json"),
    );
    await parley("adopt", "claude", "--only", "permissions");
    await parley("config", "set", "sandbox", "on");
    expect(await parley("adopt", "--undo")).toMatchObject({ code: 1, err: expect.stringContaining("changed since") });
  });

  it("takes over hooks, skills, agents, commands and sessions, and reverses all of it", async () => {
    fillAssets();
    const before = foreignTree();
    const first = await parley("adopt", "--all", "--yes");
    expect(first.out.split("\n").filter((line) => line.startsWith("took over"))).toEqual([
      "took over 1 hook for PreToolUse",
      "took over 1 hook for Stop",
      "took over skill pdf",
      "took over agent review.md",
      "took over command fix.md",
      "took over 1 session",
    ]);
    // Shown in full before they are added.
    expect(first.err).toContain("  PreToolUse Bash: guard.sh --strict");
    expect(JSON.parse((await parley("hooks", "list", "--json")).out)).toMatchObject({
      hooks: [{ event: "PreToolUse", source: "user", state: "runs" }, { event: "Stop" }],
    });
    expect((await parley("skills", "list")).out).toContain("pdf  user  ~/.parley/skills/pdf");
    expect((await parley("commands", "list")).out).toContain("/fix");
    expect(JSON.parse((await parley("agents", "list", "--json")).out)).toMatchObject({
      agents: [{ name: "review", disallowedTools: ["write_file"] }],
    });
    expect(savedSessions()).toHaveLength(1);
    expect(readFileSync(join(base, ".parley/skills/pdf/scripts/run.sh"), "utf8")).toBe("echo hi\n");
    expect(foreignTree()).toEqual(before);

    const again = await parley("adopt", "--all", "--yes");
    expect(again.out).not.toContain("took over");
    expect(await parley("adopt", "--undo")).toMatchObject({ code: 0, out: "Reversed the last adoption.\n" });
    expect((await parley("skills", "list")).out).toBe("");
    expect((await parley("agents", "list")).out).toBe("");
    expect((await parley("commands", "list")).out).not.toContain("/fix");
    expect(savedSessions()).toEqual([]);
    expect(readdirSync(join(base, ".parley"))).not.toContain("settings.json");
    expect(foreignTree()).toEqual(before);
  });

  it("takes over plugins of Claude Code and extensions of Gemini CLI with agreement to what they bring, and reverses it", async () => {
    const cache = ".claude/plugins/cache/team/dev/1.0.0";
    put(`${cache}/.claude-plugin/plugin.json`, { name: "dev", description: "Helps." });
    put(`${cache}/commands/ship.md`, "Ship $ARGUMENTS");
    put(".claude/plugins/cache/team/bare/1.0.0/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\nText");
    put(".claude/plugins/marketplaces/team/.claude-plugin/marketplace.json", {
      name: "team",
      plugins: [{ name: "bare", source: "./bare", description: "Without a manifest." }],
    });
    const install = (path: string, more = {}): object => ({ scope: "user", installPath: join(base, path), ...more });
    put(".claude/plugins/installed_plugins.json", {
      version: 2,
      plugins: {
        "dev@team": [install("elsewhere", { scope: "project", projectPath: "/elsewhere" }), install(cache)],
        "bare@team": [install(".claude/plugins/cache/team/bare/1.0.0")],
        "gone@team": [install(".claude/plugins/cache/team/gone/1.0.0")],
        "other@team": [{ scope: "project", projectPath: "/elsewhere", installPath: join(base, cache) }],
        "out@team": [{ scope: "user", installPath: "/etc" }],
      },
    });
    put(".claude/settings.json", { enabledPlugins: { "dev@team": true, "bare@team": false } });
    put(".gemini/extensions/sre/gemini-extension.json", { name: "sre", version: "1", excludeTools: ["write_file"] });
    put(".gemini/extensions/sre/hooks/hooks.json", {
      hooks: { BeforeTool: [{ hooks: [{ type: "command", command: `touch ${join(base, "ran")}` }] }] },
    });
    put(".gemini/extensions/linked/.gemini-extension-install.json", { source: "/src/linked", type: "link" });
    put(".gemini/extensions/extension-enablement.json", {});
    const before = foreignTree();

    const refused = await parley("adopt", "--only", "plugins");
    const rows = refused.out.split("\n").map((row) => row.replaceAll(/ {2,}/g, " | ").replaceAll(base, "~"));
    expect(rows.filter((row) => row.includes("| plugins |"))).toEqual([
      `1 | claude | plugins | dev: 1 commands | can be taken over | ~/${cache}`,
      "2 | claude | plugins | bare (disabled there): 1 skills | can be taken over | ~/.claude/plugins/cache/team/bare/1.0.0",
      " | claude | plugins | gone | its files are missing or elsewhere | ~/.claude/plugins/cache/team/gone/1.0.0",
      " | claude | plugins | other | installed for another folder | ~/.claude/plugins",
      " | claude | plugins | out | its files are missing or elsewhere | /etc",
      " | gemini | plugins | linked | linked; add it with parley plugins add /src/linked | ~/.gemini/extensions/linked",
      "7 | gemini | plugins | sre: 1 hooks | can be taken over | ~/.gemini/extensions/sre",
    ]);
    expect(refused.err).toContain("Not taken over: plugin dev: what it brings must be agreed to, so it needs --yes");
    expect((await parley("plugins", "list")).out).toBe("");

    const taken = await parley("adopt", "--only", "plugins", "--yes");
    expect(taken.out.split("\n").filter((line) => line.startsWith("took over"))).toEqual([
      "took over plugin dev: commands",
      "took over plugin bare: skills",
      "took over plugin sre: hooks",
    ]);
    // Shown in full before it is added.
    expect(taken.err).toContain(`  BeforeTool: touch ${join(base, "ran")}`);
    expect(JSON.parse((await parley("plugins", "list", "--json")).out)).toMatchObject({
      plugins: [
        { name: "bare", state: "enabled", agreed: ["skills"] },
        { name: "dev", state: "enabled", agreed: ["commands"] },
        { name: "sre", state: "enabled", agreed: ["hooks"], rules: ["deny write_file (excludeTools)"] },
      ],
    });
    expect((await parley("skills", "list")).out).toContain("bare:pdf");
    expect((await parley("adopt", "--only", "plugins", "--yes")).out).not.toContain("took over");

    put(`${cache}/commands/ship.md`, "Ship it.");
    await parley("plugins", "update", "dev", "--yes");
    expect((await parley("adopt", "--undo")).err).toBe("parley: Kept: the plugin dev was updated since.\n");
    expect((await parley("plugins", "list")).out).toMatch(/^dev +enabled +1 commands\n$/);
    put(`${cache}/commands/ship.md`, "Ship $ARGUMENTS");
    expect(foreignTree()).toEqual(before);
  });

  it("keeps what the person changed since, and reverses one adoption after the other", async () => {
    fillAssets();
    await parley("adopt", "codex", "--only", "skills");
    await parley("adopt", "opencode", "--only", "agents");
    put(".parley/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine.\n---\nX");
    expect((await parley("adopt", "--undo")).err).toBe("");
    expect(readdirSync(join(base, ".parley/agents"))).toEqual([]);
    expect((await parley("adopt", "--undo")).err).toContain("Kept: skills/pdf was changed since.");
    expect(readFileSync(join(base, ".parley/skills/pdf/SKILL.md"), "utf8")).toContain("Mine.");
    expect((await parley("adopt", "--undo")).code).toBe(1);
  });

  it("takes hooks only with a second agreement, and says so", async () => {
    fillAssets();
    const ran = await parley("adopt", "--only", "hooks");
    expect(ran.out).not.toContain("took over");
    expect(ran.err).toContain("Not taken over: hooks: they run programs, so they need --yes");
    expect(JSON.parse((await parley("hooks", "--json")).out)).toMatchObject({ hooks: [] });
  });

  it("chooses by number", async () => {
    fillAssets();
    const { out } = await parley("adopt");
    const number = /^(\d+) +opencode +agents/m.exec(out)?.[1] ?? "";
    expect((await parley("adopt", "--pick", number)).out).toContain("took over agent review.md");
    for (const wrong of ["0", "99", "x", "1.5"])
      expect(await parley("adopt", "--pick", wrong)).toMatchObject({ code: 2 });
  });

  it("copies no link of another agent", async () => {
    put("elsewhere/SKILL.md", "---\nname: evil\ndescription: x\n---\n");
    put(".codex/skills/real/SKILL.md", "---\nname: real\ndescription: x\n---\n");
    symlinkSync("/etc/passwd", join(base, ".codex/skills/real/secret"));
    symlinkSync(join(base, "elsewhere"), join(base, ".codex/skills/evil"));
    await parley("adopt", "codex", "--only", "skills");
    expect(readdirSync(join(base, ".parley/skills"))).toEqual(["real"]);
    expect(readdirSync(join(base, ".parley/skills/real"))).toEqual(["SKILL.md"]);
  });

  it("changes nothing in a dry run, or without a choice", async () => {
    fillMachine();
    const { out } = await parley("adopt", "--dry-run");
    expect(out).toContain("would take over deny Read(.env)");
    await parley("adopt");
    expect(readdirSync(base)).not.toContain(".parley");
    expect(JSON.parse((await parley("adopt", "codex", "--json")).out)).toMatchObject({ tookOver: [], variables: [] });
  });

  it("reads no file that a link leads out of the home folder to", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "parley-elsewhere-"));
    writeFileSync(join(elsewhere, "settings.json"), '{"permissions": {"allow": ["Bash"]}}');
    writeFileSync(join(elsewhere, "claude.json"), '{"mcpServers": {"evil": {"command": "evil"}}}');
    symlinkSync(elsewhere, join(base, ".claude"));
    symlinkSync(join(elsewhere, "claude.json"), join(base, ".claude.json"));
    const { out } = await parley("adopt", "claude", "--all", "--yes");
    expect(out).not.toMatch(/evil|took over/);
    rmSync(elsewhere, { recursive: true });
  });

  it.each([
    [["emacs"], 'Unknown agent "emacs"'],
    [["--only", "keys,cats"], 'Unknown kind "cats"'],
  ])("says what is wrong with %j", async (args, message) => {
    expect(await parley("adopt", ...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});

describe("the list to tick", () => {
  beforeAll(ensureBuilt, 240_000);

  const items = [
    { text: "named only" },
    { text: "one", isTicked: true },
    { text: "x" },
    { text: "two", isTicked: false },
  ];
  const press = (...keys: readonly string[]) => keys.reduce(updateChecklist, createChecklist(items));

  it("moves between what can be ticked, ticks one or all, and ends", () => {
    expect(press().at).toBe(1);
    expect(press("down", "down", "space").items.map(({ isTicked }) => isTicked)).toEqual([
      undefined,
      true,
      undefined,
      true,
    ]);
    expect(press("a", "a").items.map(({ isTicked }) => isTicked)).toEqual([undefined, false, undefined, false]);
    expect([press("return").end, press("escape").end, press("ctrl-c").end, press("z").end]).toEqual([
      "confirmed",
      "cancelled",
      "cancelled",
      undefined,
    ]);
  });

  it("shows the lines around the cursor, each on one row, without anything that acts on the terminal", () => {
    const many = Array.from({ length: 50 }, (_, at) => ({
      text: `\u001b[2Jitem ${at} ${"x".repeat(200)}`,
      isTicked: false,
    }));
    const lines = renderChecklist({ items: many, at: 40 }, { rows: 10, columns: 30 });
    expect(lines).toHaveLength(9);
    expect(lines.some((line) => line.startsWith("> [ ]") && line.includes("item 40"))).toBe(true);
    expect(lines.every((line) => line.length < 30 && !/\p{Cc}/u.test(line))).toBe(true);
  });

  it("asks in a terminal about each kind that a ticked plugin brings", async () => {
    put(".gemini/extensions/sre/gemini-extension.json", { name: "sre", version: "1" });
    put(".gemini/extensions/sre/GEMINI.md", "Use it.");
    put(".gemini/extensions/sre/commands/deploy.toml", 'prompt = "Deploy"');
    const terminal = runInTerminal(bin, {
      size: { columns: 160, rows: 30 },
      args: ["adopt"],
      env: { HOME: base, PARLEY_HOME: join(base, ".parley") },
    });
    await terminal.waitFor((rows) => rows.some((row) => row.includes("Space: tick")));
    expect(terminal.screen.rows().find((row) => row.includes("plugins"))).toContain("[ ]");
    terminal.type(" \r");
    await terminal.waitFor((rows) =>
      rows.some((row) => row.includes("Commands: prompts that you can send (1). Allow?")),
    );
    terminal.type("y\r");
    await terminal.waitFor((rows) => rows.some((row) => row.includes("system prompt of every session (1). Allow?")));
    terminal.type("n\r");
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output()).toContain("took over plugin sre: commands");
  });

  it("takes over in a terminal what was ticked, after the hooks were shown", async () => {
    fillAssets();
    const terminal = runInTerminal(bin, {
      size: { columns: 160, rows: 30 },
      args: ["adopt"],
      env: { HOME: base, PARLEY_HOME: join(base, ".parley") },
    });
    await terminal.waitFor((rows) => rows.some((row) => row.includes("Space: tick")));
    const rows = terminal.screen.rows();
    expect(rows.find((row) => row.includes("claude") && row.includes("hooks"))).toContain("[ ]");
    expect(rows.find((row) => row.includes("opencode") && row.includes("agents"))).toContain("[x]");
    // The cursor is on the hooks of Claude Code, the first that can be ticked.
    terminal.type(" \r");
    await terminal.waitFor((now) => now.some((row) => row.includes("They run in every folder. [y/N]")));
    expect(terminal.output()).toContain("PreToolUse Bash: guard.sh --strict");
    terminal.type("y\r");
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output()).toContain("took over 1 hook for PreToolUse");
    expect(terminal.output()).toContain("took over skill pdf");
  });
});
