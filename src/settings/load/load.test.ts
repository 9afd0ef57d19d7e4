import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import type { Environment, World } from "../../world/world.ts";
import { applyProviderUrls } from "../provider-urls.ts";
import { resolveHomeFolder } from "../home.ts";
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
  thoughts: true,
  unsupportedMedia: "stub",
  toolResponse: "output",
  models: {},
  providers: {},
  "permissions.mode": "default",
  "permissions.allow": [],
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
  "telemetry.logPrompts": false,
  "ui.theme": "auto",
  "ui.screenReader": false,
};

describe("the settings of a run", () => {
  it("are defaults where nobody says anything", async () => {
    const { settings, sources, warnings } = await load();
    expect(settings).toEqual(defaults);
    expect(new Set(Object.values(sources).map((each) => JSON.stringify(each)))).toEqual(
      new Set(['[{"from":"default"}]']),
    );
    expect(Object.keys(sources)).toEqual(Object.keys(settings));
    expect(warnings).toEqual([]);
  });

  it("come from the nearest place that says something, and tell which", async () => {
    await write("me/.gemini/settings.json", { model: { name: "gemini-2.5-pro" }, context: { fileName: "G.md" } });
    const gemini = { from: "gemini", where: join(base, "me/.gemini/settings.json") };
    const person = { from: "person", where: join(home, "settings.json") };
    const first = await load();
    expect([first.settings.model, first.sources.model]).toEqual(["google/gemini-2.5-pro", [gemini]]);

    await write("me/.parley/settings.json", { model: "a/b", offline: { script: "x" } });
    const second = await load();
    expect([second.settings.model, second.sources.model]).toEqual(["a/b", [person]]);
    expect([second.settings["context.fileName"], second.sources["context.fileName"]]).toEqual([["G.md"], [gemini]]);

    const third = await load({ flags: { model: "c/d" } }, { PARLEY_OFFLINE_SCRIPT: "y" });
    expect([third.settings.model, third.sources.model]).toEqual(["c/d", [{ from: "line", where: "--model" }]]);
    expect([third.settings["offline.script"], third.sources["offline.script"]]).toEqual([
      "y",
      [{ from: "environment", where: "PARLEY_OFFLINE_SCRIPT" }],
    ]);
  });

  it("take an editor from the variables others share only where no file names one", async () => {
    const env = { EDITOR: "ed", VISUAL: " " };
    expect((await load({}, env)).settings.editor).toBe("ed");
    await write("me/.parley/settings.json", { editor: "mine" });
    expect((await load({}, env)).settings.editor).toBe("mine");
  });

  it("add up rules and folders, and join what has names", async () => {
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
    expect(sources["context.includeDirectories"]?.map(({ from }) => from)).toEqual(["gemini", "person", "line"]);
  });

  it("keep what was said apart for policy", async () => {
    await write("me/.parley/settings.json", {
      permissions: { allow: ["read_file"], deny: ["path:secrets"], only: ["glob"], mode: "auto_edit" },
    });
    const { policy } = await load({ flags: { "allowed-tools": "write_file" } });
    expect(policy).toEqual({
      mode: "auto_edit",
      trusted: true,
      rules: {
        line: { allow: [{ type: "tool", name: "write_file" }] },
        settings: {
          allow: [{ type: "tool", name: "read_file" }],
          deny: [{ type: "path", path: "secrets" }],
          only: [{ type: "tool", name: "glob" }],
        },
        project: [],
      },
    });
  });

  it("loosen nothing in a folder that is not trusted, unless the command line does", async () => {
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
    expect(said.sources["permissions.allow"]?.map(({ from }) => from)).toEqual(["line", "untrusted"]);
  });

  it.each([
    [
      { "approval-mode": "never" },
      '--approval-mode must be "plan" or "default" or "auto_edit" or "yolo"; it is the text "never".',
    ],
    [{ "max-turns": "many" }, '--max-turns must be a whole number of 1 or more; it is the text "many".'],
    [
      { "allowed-tools": "rm -rf" },
      '--allowed-tools.0 must be a rule such as write_file, run_shell_command(npm test), server:NAME, host:NAME or path:NAME; it is the text "rm -rf".',
    ],
  ])("do not begin with an option that does not fit: %j", async (flags, message) => {
    await expect(load({ flags })).rejects.toThrow(message);
  });

  it("take switches and numbers from the command line as what they are", async () => {
    const { settings } = await load({
      flags: { sandbox: true, "max-turns": "7", "screen-reader": "off", verbose: true },
    });
    expect([settings.sandbox, settings["limits.maxTurns"], settings["ui.screenReader"]]).toEqual([true, 7, false]);
  });

  it("do not begin with a file that cannot be used", async () => {
    await write("me/.parley/settings.json", '{\n  "sandbox": maybe\n}');
    await expect(load()).rejects.toThrow(
      `${settingsFilePath(home)} cannot be read: line 2, column 14, maybe is not JSON. Mend it there; it was left as it is.`,
    );
    await rm(settingsFilePath(home));
    await mkdir(settingsFilePath(home));
    await expect(load()).rejects.toMatchObject({ fault: { kind: "no-access", file: settingsFilePath(home) } });
  });

  it("begin all the same when the file of another program cannot be used", async () => {
    await write("me/.gemini/settings.json", "{ nonsense");
    expect(await load()).toMatchObject({
      settings: defaults,
      warnings: [`${base}/me/.gemini/settings.json is not used: line 1: a key in double quotes is missing.`],
    });
    await rm(join(base, "me/.gemini/settings.json"));
    await mkdir(join(base, "me/.gemini/settings.json"));
    expect((await load()).settings).toEqual(defaults);
  });

  it("may be kept elsewhere, behind a link", async () => {
    await write("dotfiles/parley.json", { model: "a/b" });
    await mkdir(home, { recursive: true });
    await symlink(join(base, "dotfiles/parley.json"), settingsFilePath(home));
    expect((await load()).settings.model).toBe("a/b");
  });
});

describe("the folder of Parley's own things", () => {
  it("is in the home of a person unless they say otherwise", () => {
    const host = { platform: "x", arch: "x", home: "/home/me" };
    expect([{}, { PARLEY_HOME: " " }, { PARLEY_HOME: "/x" }].map((env) => resolveHomeFolder({ env, host }))).toEqual([
      "/home/me/.parley",
      "/home/me/.parley",
      "/x",
    ]);
  });
});

describe("addresses of providers", () => {
  it("reach transport as variables, and leave alone what a variable says already", () => {
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
