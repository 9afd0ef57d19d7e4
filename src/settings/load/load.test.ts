import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import type { Environment, World } from "../../world/world.ts";
import { applyProviderUrls } from "../provider-urls.ts";
import { loadSettings, settingsFilePath, type SettingsLocations } from "./load.ts";
import type { Settings } from "../schema/values.ts";

let base: string;
let home: string;
let root: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "parley-settings-")));
  home = join(base, "me/.parley");
  root = join(base, "project");
  await mkdir(root);
});

afterEach(() => rm(base, { recursive: true, force: true }));

const write = async (path: string, value: unknown): Promise<void> => {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), typeof value === "string" ? value : JSON.stringify(value));
};

const world = (env: Environment): World => {
  const real = realWorld(env);
  return { ...real, host: { ...real.host, home: join(base, "me") } };
};

const load = (more: Partial<SettingsLocations> = {}, env: Environment = {}) =>
  loadSettings(world(env), { home, root, scope: "tighten", ...more });

const defaults: Settings = {
  pools: {},
  favourites: [],
  thoughts: true,
  unsupportedMedia: "stub",
  toolResponse: "output",
  models: {},
  providers: {},
  "permissions.mode": "default",
  "permissions.allow": [],
  "permissions.ask": [],
  "permissions.deny": [],
  sandbox: false,
  sandboxNetwork: "on",
  "context.fileName": ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md"],
  "context.includeDirectories": [],
  "context.fullContext": false,
  "limits.toolTime": 600,
  "limits.idleTime": 300,
  "limits.answerTime": 3600,
  "mcp.startWait": 10,
  "limits.processes": 8,
  compaction: 0.8,
  mcpServers: {},
  hooks: {},
  "telemetry.logPrompts": false,
  "ui.theme": "auto",
  "ui.screenReader": false,
  "ide.connect": "auto",
};

describe("the settings of a run", () => {
  it("are defaults if nothing is set", async () => {
    const { settings, sources, warnings } = await load();
    expect(settings).toEqual(defaults);
    expect(new Set(Object.values(sources).map((each) => JSON.stringify(each)))).toEqual(
      new Set(['[{"from":"default"}]']),
    );
    expect(Object.keys(sources)).toEqual(Object.keys(settings));
    expect(warnings).toEqual([]);
  });

  it("warn of a rule for a tool that is none of ours but like one", async () => {
    const flags = { deny: ["bash", "run_shell_comand", "Bash", "write_file", "edits"], "allowed-tools": ["weather"] };
    expect((await load({ flags })).warnings).toEqual([
      'The rule "bash" (permissions.deny) is for a tool named "bash", and no built-in tool is. Did you mean run_shell_command?',
      'The rule "run_shell_comand" (permissions.deny) is for a tool named "run_shell_comand", and no built-in tool is. Did you mean run_shell_command?',
    ]);
  });

  it("come from the source with the highest precedence, and name it", async () => {
    await write("me/.gemini/settings.json", { model: { name: "gemini-2.5-pro" }, context: { fileName: "G.md" } });
    const gemini = { from: "gemini", where: join(base, "me/.gemini/settings.json") };
    const person = { from: "user", where: join(home, "settings.json") };
    const first = await load();
    expect([first.settings.model, first.sources.model]).toEqual(["google/gemini-2.5-pro", [gemini]]);

    await write("me/.parley/settings.json", { model: "a/b", offline: { script: "x" } });
    const second = await load();
    expect([second.settings.model, second.sources.model]).toEqual(["a/b", [person]]);
    expect([second.settings["context.fileName"], second.sources["context.fileName"]]).toEqual([["G.md"], [gemini]]);

    const third = await load({ flags: { model: "c/d" } }, { PARLEY_OFFLINE_SCRIPT: "y" });
    expect([third.settings.model, third.sources.model]).toEqual(["c/d", [{ from: "flag", where: "--model" }]]);
    expect([third.settings["offline.script"], third.sources["offline.script"]]).toEqual([
      "y",
      [{ from: "environment", where: "PARLEY_OFFLINE_SCRIPT" }],
    ]);
  });

  it("use shared editor variables only if no file sets one", async () => {
    const env = { EDITOR: "ed", VISUAL: " " };
    expect((await load({}, env)).settings.editor).toBe("ed");
    await write("me/.parley/settings.json", { editor: "mine" });
    expect((await load({}, env)).settings.editor).toBe("mine");
  });

  it("append rules and folders, and merge entries by name", async () => {
    await write("me/.gemini/settings.json", {
      tools: { exclude: ["web_fetch"], allowed: ["glob"] },
      context: { includeDirectories: ["g"] },
      mcpServers: { one: { command: "theirs" }, two: { url: "http://two.test" } },
    });
    await write("me/.parley/settings.json", {
      permissions: { deny: ["write_file"], allow: ["read_file"] },
      context: { includeDirectories: ["p"] },
      mcpServers: { one: { command: "mine" } },
    });
    const { settings, sources } = await load({
      flags: { "allowed-tools": "run_shell_command(git status), list_directory", "include-directories": ["l,m", "p"] },
    });
    expect(settings).toEqual({
      ...defaults,
      "permissions.deny": ["web_fetch", "write_file"],
      "permissions.allow": ["run_shell_command(git status)", "list_directory", "glob", "read_file"],
      "context.includeDirectories": ["g", "p", "l", "m"],
      mcpServers: { one: { command: "mine" }, two: { url: "http://two.test" } },
    });
    expect(sources["context.includeDirectories"]?.map(({ from }) => from)).toEqual(["gemini", "user", "flag"]);
  });

  it("keep permissions by source for policy", async () => {
    await write("me/.parley/settings.json", {
      permissions: { allow: ["read_file"], deny: ["path:secrets"], only: ["glob"], mode: "auto_edit" },
    });
    const { policy } = await load({ flags: { "allowed-tools": "write_file" } });
    expect(policy).toEqual({
      mode: "auto_edit",
      trusted: true,
      rules: {
        commandLine: { allow: [{ type: "tool", name: "write_file" }] },
        settings: {
          allow: [{ type: "tool", name: "read_file" }],
          deny: [{ type: "path", path: "secrets" }],
          only: [{ type: "tool", name: "glob" }],
        },
        project: [],
      },
    });
  });

  it("loosen nothing in an untrusted folder, except from the command line", async () => {
    await write("me/.parley/settings.json", { permissions: { allow: ["read_file"], deny: ["glob"], mode: "yolo" } });
    const { settings, sources, policy } = await load({ scope: "inert" });
    expect([settings["permissions.mode"], settings["permissions.allow"], settings["permissions.deny"]]).toEqual([
      "default",
      [],
      ["glob"],
    ]);
    expect([sources["permissions.mode"], sources["permissions.allow"], policy.mode, policy.trusted]).toEqual([
      [{ from: "untrusted" }],
      [{ from: "untrusted" }],
      "default",
      false,
    ]);
    const said = await load({ scope: "inert", flags: { "approval-mode": "yolo", "allowed-tools": "write_file" } });
    expect([said.settings["permissions.mode"], said.settings["permissions.allow"]]).toEqual(["yolo", ["write_file"]]);
    expect(said.sources["permissions.allow"]?.map(({ from }) => from)).toEqual(["flag", "untrusted"]);
  });

  it.each([
    [
      { "approval-mode": "never" },
      '--approval-mode must be "plan" or "default" or "auto_edit" or "yolo", not "never".',
    ],
    [{ "max-turns": "many" }, '--max-turns must be a whole number of 1 or more, not "many".'],
    [
      { "allowed-tools": "rm -rf" },
      'Unknown rule "rm -rf" in --allowed-tools. Rules are edits, write_file, run_shell_command(npm test), server:NAME, agent:NAME, host:NAME, path:NAME, Bash(npm test:*), Edit(src/**), Read(.env), WebFetch(domain:NAME) or mcp__SERVER__TOOL.',
    ],
  ])("refuse an invalid flag: %j", async (flags, message) => {
    await expect(load({ flags })).rejects.toThrow(message);
  });

  it("parse booleans and numbers on the command line", async () => {
    const { settings } = await load({
      flags: { sandbox: true, "max-turns": "7", "screen-reader": "off", verbose: true },
    });
    expect([settings.sandbox, settings["limits.maxTurns"], settings["ui.screenReader"]]).toEqual([true, 7, false]);
  });

  it("refuse an invalid file", async () => {
    await write("me/.parley/settings.json", '{\n  "sandbox": maybe\n}');
    await expect(load()).rejects.toThrow(
      `Cannot read ${settingsFilePath(home)}: line 2, column 14: Unexpected "maybe". Correct it there; the file was not changed.`,
    );
    await rm(settingsFilePath(home));
    await mkdir(settingsFilePath(home));
    await expect(load()).rejects.toMatchObject({ fault: { kind: "no-access", file: settingsFilePath(home) } });
  });

  it("load even if the Gemini CLI file is invalid", async () => {
    await write("me/.gemini/settings.json", "{ nonsense");
    expect(await load()).toMatchObject({
      settings: defaults,
      warnings: [`${base}/me/.gemini/settings.json is not used: line 1: Unexpected "nonsense".`],
    });
    await rm(join(base, "me/.gemini/settings.json"));
    await mkdir(join(base, "me/.gemini/settings.json"));
    expect((await load()).settings).toEqual(defaults);
  });

  it("can be in a linked file", async () => {
    await write("dotfiles/parley.json", { model: "a/b" });
    await mkdir(home, { recursive: true });
    await symlink(join(base, "dotfiles/parley.json"), settingsFilePath(home));
    expect((await load()).settings.model).toBe("a/b");
  });
});

describe("base URLs of providers", () => {
  it("become environment variables, unless they are set already", () => {
    const providers = {
      local: { baseUrl: "http://a.test" },
      "openai-chat": { baseUrl: "http://b.test" },
      google: { baseUrl: "http://c.test" },
      xai: {},
    };
    expect(applyProviderUrls({ providers }, { X: "1", PARLEY_GOOGLE_BASE_URL: "http://d.test" })).toEqual({
      X: "1",
      PARLEY_LOCAL_BASE_URL: "http://a.test",
      PARLEY_OPENAI_CHAT_BASE_URL: "http://b.test",
      PARLEY_GOOGLE_BASE_URL: "http://d.test",
    });
  });
});
