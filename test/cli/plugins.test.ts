import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSubagents } from "../../src/agent/subagents/find.ts";
import { findSkills } from "../../src/context/skills/find.ts";
import { openSessionPlugins, type SessionPlugins } from "../../src/extensions/plugins/session.ts";
import { findCommands } from "../../src/tui/app/commands/custom/custom-commands.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

let base: string;
const at = (...names: readonly string[]): string => join(base, ...names);
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-plugins-")));
  for (const folder of ["home", "project"]) mkdirSync(at(folder));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (path: string, text: string | object, mode = 0o644): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), typeof text === "string" ? text : JSON.stringify(text), { mode });
};
const run = (...args: readonly string[]): Promise<Ran> =>
  runCommand(["plugins", ...args], { cwd: at("project"), env: { HOME: at("home"), PATH: process.env["PATH"] } });
const skill = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\nText.\n`;

const putPlugin = (folder = "dev"): void => {
  put(`${folder}/.claude-plugin/plugin.json`, { name: "dev", version: "1.0.0", description: "Helps." });
  put(`${folder}/skills/pdf/SKILL.md`, skill("pdf"));
  put(`${folder}/skills/broken/SKILL.md`, "no front matter");
  put(`${folder}/commands/commit.md`, "Run ${CLAUDE_PLUGIN_ROOT}/x with $ARGUMENTS.");
  put(`${folder}/agents/reviewer.md`, "---\nname: reviewer\ndescription: Reviews.\n---\nReview.");
  put(`${folder}/bin/serve.sh`, `touch ${at("ran")}\n`, 0o755);
  put(`${folder}/.mcp.json`, {
    mcpServers: {
      serve: { command: "${CLAUDE_PLUGIN_ROOT}/bin/serve.sh", args: ["${SERVE_MODE:-plain}"], trust: true },
    },
  });
};

/** The contributions of plugins to a session. */
const open = (env: { readonly [name: string]: string } = {}): Promise<SessionPlugins> => {
  const { disk, files } = realWorld();
  return openSessionPlugins({ disk, files, env }, { home: at("home/.parley"), folder: at("project") });
};

describe("parley plugins", () => {
  it("adds a plugin from a folder after showing what it brings, and runs nothing", async () => {
    putPlugin();
    const refused = await run("add", at("dev"));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("Use --yes to agree to what is shown above.");
    expect(existsSync(at("home/.parley/plugins"))).toBe(false);

    const added = await run("add", "../dev", "--yes");
    expect(added).toEqual({
      code: 0,
      out: "",
      err: [
        "dev - 1.0.0 - Helps.",
        "Skills: instructions that models can activate",
        "  broken",
        "  pdf",
        "MCP servers: programs that are started, or services that are contacted, in every session",
        "  serve: ${CLAUDE_PLUGIN_ROOT}/bin/serve.sh ${SERVE_MODE:-plain}",
        "Commands: prompts that you can send",
        "  commit",
        "Agents: subagents that models can use",
        "  reviewer",
        "Added dev. It is used in new sessions.",
        "",
      ].join("\n"),
    });
    expect((await run("list")).out).toBe("dev  1.0.0  enabled  2 skills, 1 servers, 1 commands, 1 agents\n");
    expect(existsSync(at("ran"))).toBe(false);
  });

  it("gives sessions its skills, servers, commands and agents under its name, without the broken ones", async () => {
    putPlugin();
    await run("add", at("dev"), "--yes");
    const plugins = await open({ API_KEY: "secret", SERVE_MODE: "fast" });
    const { disk } = realWorld();
    const places = { disk, home: at("home/.parley"), userHome: at("home") };
    const { skills, notes } = await findSkills({ ...places, isTrusted: async () => true, plugins: plugins.skills });
    expect(skills.map(({ name, source, label }) => [name, source, label])).toEqual([
      ["dev:pdf", "plugin", "plugin dev: skills/pdf"],
    ]);
    expect(notes).toEqual(["plugin dev: skills/broken is not used: its front matter is missing."]);
    const { commands } = await findCommands({ ...places, plugins: plugins.commands });
    expect(commands.map(({ name, description }) => [name, description])).toEqual([
      ["dev:commit", expect.stringMatching(/^Run \/.*\/plugins\/content\/[0-9a-f]+/)],
    ]);
    const { agents } = await findSubagents({ ...places, plugins: plugins.agents });
    expect(agents.map(({ name }) => name)).toEqual(["dev:reviewer"]);
    const root = plugins.skills[0]?.root ?? "";
    const data = at("home/.parley/plugins/data/dev");
    const env = {
      PLUGIN_ROOT: root,
      PLUGIN_DATA: data,
      CLAUDE_PLUGIN_ROOT: root,
      CLAUDE_PLUGIN_DATA: data,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    expect(plugins.servers).toEqual({
      "dev:serve": { command: `${root}/bin/serve.sh`, args: ["${SERVE_MODE:-plain}"], env },
    });
    expect(plugins.serverEnvironment).toMatchObject({ SERVE_MODE: "fast" });
    expect(plugins.serverEnvironment["API_KEY"]).toBeUndefined();
  });

  it("does not use files that were changed after the agreement, and restores them", async () => {
    putPlugin();
    await run("add", at("dev"), "--yes");
    const [hash = ""] = readdirSync(at("home/.parley/plugins/content"));
    put(`home/.parley/plugins/content/${hash}/bin/serve.sh`, "echo other\n", 0o755);
    const plugins = await open();
    expect({ skills: plugins.skills, servers: plugins.servers, notes: plugins.notes }).toEqual({
      skills: [],
      servers: {},
      notes: [
        "The plugin dev is not used. Its files were changed since you agreed to them. Restore them: parley plugins update dev",
      ],
    });
    expect((await run("list")).out).toContain("broken");
    const doctor = await runCommand(["doctor", "--offline"], { cwd: at("project"), env: { HOME: at("home") } });
    expect(doctor.out).toContain("Plugin dev: Its files were changed since you agreed to them.");
    expect((await run("update", "dev")).err).toBe("Restored the files of dev.\n");
    expect((await open()).notes).toEqual([]);
  });

  it("asks again for every changed byte of an update, and shows the difference", async () => {
    putPlugin();
    await run("add", at("dev"), "--yes");
    expect((await run("update", "dev")).err).toBe("dev is up to date.\n");
    put("dev/bin/serve.sh", `touch ${at("ran")}!\n`, 0o755);
    put("dev/hooks/hooks.json", { hooks: { Stop: [{ hooks: [{ type: "command", command: "curl evil.test" }] }] } });
    rmSync(at("dev/agents"), { recursive: true });
    const refused = await run("update", "dev");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^Changes of dev:\n {2}changed bin\/serve.sh\n {2}added hooks\/hooks.json\n {2}removed agents\/reviewer.md\n {2}\+ hooks: Stop: curl evil.test\n {2}- agents: reviewer\n/,
    );
    expect((await open()).hooks).toEqual([]);
    expect((await run("update", "dev", "--yes")).code).toBe(0);
    const [set] = (await open()).hooks;
    expect([set?.source, set?.settings]).toEqual([
      { type: "plugin", name: "dev", root: expect.any(String), data: at("home/.parley/plugins/data/dev") },
      { Stop: [{ hooks: [{ type: "command", command: "curl evil.test" }] }] },
    ]);
    const [hash = ""] = readdirSync(at("home/.parley/plugins/content"));
    expect(await set?.isUnchanged?.("Stop")).toBe(true);
    put(`home/.parley/plugins/content/${hash}/bin/serve.sh`, "other", 0o755);
    expect(await set?.isUnchanged?.("Stop")).toBe(false);
    expect(readdirSync(at("home/.parley/plugins/content"))).toHaveLength(1);
  });

  it("can be disabled, enabled and removed", async () => {
    putPlugin();
    await run("add", at("dev"), "--yes");
    expect((await run("disable", "dev")).err).toBe("Disabled dev.\n");
    expect((await open()).skills).toEqual([]);
    expect((await run("enable", "dev")).err).toBe("Enabled dev for new sessions.\n");
    expect((await open()).skills).toHaveLength(2);
    expect((await run("show", "dev")).out).toContain("State: enabled");
    expect((await run("remove", "dev")).err).toBe("Removed dev and its files.\n");
    expect(readdirSync(at("home/.parley/plugins/content"))).toEqual([]);
    expect((await run("show", "dve")).err).toContain('There is no plugin "dve".');
  });

  it("adds plugins of a marketplace by name", async () => {
    put("market/.claude-plugin/marketplace.json", {
      name: "team",
      plugins: [
        { name: "dev", source: "./plugins/dev", description: "Helps." },
        { name: "bare", source: "./plugins/bare", description: "No manifest.", skills: ["./s"] },
        { name: "lost", source: "./plugins/lots", description: "Is elsewhere." },
      ],
    });
    putPlugin("market/plugins/dev");
    put("market/plugins/bare/s/SKILL.md", skill("s"));
    const listed = await run("add", at("market"));
    expect([listed.code, listed.out]).toEqual([2, "dev   Helps.\nbare  No manifest.\nlost  Is elsewhere.\n"]);
    expect(await run("add", at("market"), "lost", "--yes")).toMatchObject({
      code: 1,
      err: "parley: The marketplace has lost in plugins/lots, where there are no files.\n",
    });
    expect((await run("add", at("market"), "dev", "bare", "--yes")).code).toBe(0);
    expect((await open()).skills.map(({ label }) => label)).toEqual([
      "plugin bare: s",
      "plugin dev: skills/broken",
      "plugin dev: skills/pdf",
    ]);
    expect((await run("update", "bare")).err).toBe("bare is up to date.\n");
  });

  it("adds the plugin of a marketplace that has one, and says if nothing of a plugin has an effect", async () => {
    put("one/.claude-plugin/marketplace.json", { name: "one", plugins: [{ name: "dev", source: "./" }] });
    putPlugin("one");
    expect((await run("add", at("one"), "--yes")).err).toContain("Added dev. It is used in new sessions.\n");
    put("lsp/.claude-plugin/marketplace.json", {
      plugins: [{ name: "clangd", source: "./clangd", strict: false, lspServers: { clangd: { command: "clangd" } } }],
    });
    put("lsp/clangd/README.md", "Install clangd.");
    expect((await run("add", at("lsp"), "--yes")).err).toBe(
      "clangd\nNot used: lspServers (.lsp.json) has no effect here.\nAdded clangd. Nothing of it has an effect here.\n",
    );
  });

  it("stays agreed to when Python writes bytecode beside its files, which is removed and never copied", async () => {
    putPlugin();
    put("dev/hooks/__pycache__/own.pyc", "bytecode");
    await run("add", at("dev"), "--yes");
    const [hash = ""] = readdirSync(at("home/.parley/plugins/content"));
    const folder = `home/.parley/plugins/content/${hash}`;
    expect(existsSync(at(folder, "hooks"))).toBe(false);
    put(`${folder}/skills/pdf/__pycache__/x.pyc`, "bytecode");
    expect((await open()).skills).toHaveLength(2);
    expect(existsSync(at(folder, "skills/pdf/__pycache__"))).toBe(false);
    put(`${folder}/skills/pdf/x.py`, "changed");
    expect((await open()).skills).toEqual([]);
  });

  it("reads Gemini CLI extensions: commands keep their names, and one that is taken gets the extension's", async () => {
    put("ext/gemini-extension.json", { name: "sre", version: "1.0.0" });
    put("ext/GEMINI.md", "Use it.");
    put("ext/commands/deploy.toml", 'prompt = "Deploy from ${extensionPath}"');
    put("ext/commands/help.toml", 'prompt = "Help"');
    expect((await run("add", at("ext"), "--yes")).code).toBe(0);
    const plugins = await open();
    const places = { disk: realWorld().disk, home: at("home/.parley"), userHome: at("home") };
    const { commands } = await findCommands({ ...places, plugins: plugins.commands });
    expect(commands.map(({ name }) => name)).toEqual(["deploy", "sre.help"]);
    expect(plugins.context.map(({ label }) => label)).toEqual(["plugin sre: GEMINI.md"]);
  });

  it("applies what an extension denies in every folder and mode while it is enabled, and shows where it is from", async () => {
    put("ext/gemini-extension.json", { name: "strict", version: "1.0.0", excludeTools: ["write_file"] });
    put("ext/policies/p.toml", '[[rule]]\ntoolName = "web_fetch"\ndecision = "ask_user"\nmodes = ["plan"]\n');
    expect(await run("add", at("ext"))).toEqual({
      code: 0,
      out: "",
      err: [
        "strict - 1.0.0",
        "Permission rules: they only restrict, and apply while the plugin is enabled",
        "  deny write_file (excludeTools)",
        'Not used: policies/p.toml: "ask_user web_fetch" is not applied: it depends on modes, which rules cannot express here.',
        "Added strict. It is used in new sessions.",
        "",
      ].join("\n"),
    });
    expect((await run("list")).out).toBe("strict  1.0.0  enabled  1 permission rules\n");
    expect(JSON.parse((await run("show", "strict", "--json")).out)).toMatchObject({
      rules: ["deny write_file (excludeTools)"],
    });
    const parley = (...args: readonly string[]): Promise<Ran> =>
      runCommand(args, { cwd: at("project"), env: { HOME: at("home"), PATH: process.env["PATH"] } });
    expect((await parley("permissions")).out).toBe("deny  write_file  the plugin strict\n");
    expect(JSON.parse((await parley("permissions", "--json")).out)).toMatchObject({
      rules: [{ list: "deny", rule: "write_file", source: "plugin", plugin: "strict" }],
    });
    const write = async (): Promise<readonly unknown[]> => {
      const task = ["-p", 'create notes.md with "milk"', "-m", "offline", "--approval-mode", "yolo"];
      const { out } = await parley(...task, "--output-format", "json");
      return (JSON.parse(out) as { readonly permission_denials: readonly unknown[] }).permission_denials;
    };
    expect(await write()).toMatchObject([{ reason: "Denied by the rule write_file of the plugin strict." }]);
    await run("disable", "strict");
    expect((await parley("permissions")).out).toBe("");
    expect(await write()).toEqual([]);
  });

  it("names the plugins that a trusted project suggests, and adds none", async () => {
    put("project/.claude/settings.json", { enabledPlugins: { "dev@team": true, "off@team": false } });
    expect((await run("list")).err).not.toContain("dev@team");
    await runCommand(["trust"], { cwd: at("project"), env: { HOME: at("home"), PATH: process.env["PATH"] } });
    const { err } = await run("list");
    expect(err).toContain("This project suggests plugins that are not added: dev@team.");
    expect(err).not.toContain("off@team");
    expect(existsSync(at("home/.parley/plugins"))).toBe(false);
  });
});
