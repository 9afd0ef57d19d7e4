import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import { loadSettings } from "../load/load.ts";
import { settingPaths, settingsTable } from "../schema/table.ts";
import { setSetting, unsetSetting } from "./write.ts";
import { bundleScript } from "../../../test/support/bundle-script.ts";
import { perTier, sampleCases } from "../../../test/support/tier.ts";

let base: string;
let home: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "parley-set-")));
  home = join(base, "me/.parley");
});

afterEach(() => rm(base, { recursive: true, force: true }));

const world = { ...realWorld({}), host: { platform: "linux", arch: "x64", home: "/nowhere" } };
const file = (): string => join(home, "settings.json");
const text = (): Promise<string> => readFile(file(), "utf8");
const keep = async (content: string, mode = 0o644): Promise<void> => {
  await mkdir(home, { recursive: true });
  await writeFile(file(), content);
  await chmod(file(), mode);
};

describe("setting", () => {
  it.each(sampleCases(settingPaths, 4))(
    "%s takes effect, and unsetting it restores the previous value",
    async (path) => {
      const get = async () => (await loadSettings(world, { home, root: base, scope: "tighten" })).settings;
      await keep('{\n  // mine\n  "$schema": "./x.json",\n}\n');
      const before = await get();
      await setSetting(world, home, path, settingsTable[path].example);
      expect(await get()).toEqual({ ...before, [path]: settingsTable[path].example });
      expect(await text()).toMatch(/^\{\n {2}\/\/ mine\n {2}"\$schema": "\.\/x\.json",\n/);
      expect(await unsetSetting(world, home, path)).toBe(true);
      expect(await text()).toBe('{\n  // mine\n  "$schema": "./x.json",\n}\n');
      expect(await unsetSetting(world, home, path)).toBe(false);
    },
  );

  it("a nested value changes only that value", async () => {
    await setSetting(world, home, "mcpServers.files", { command: "npx" });
    await setSetting(world, home, "mcpServers.files.args", ["-y"]);
    await setSetting(world, home, 'models."local/a.b".context', 5);
    expect(JSON.parse(await text())).toEqual({
      mcpServers: { files: { command: "npx", args: ["-y"] } },
      models: { "local/a.b": { context: 5 } },
    });
  });

  it("for the first time creates a file with mode 0600", async () => {
    await setSetting(world, home, "model", "a/b");
    expect(await text()).toBe('{\n  "model": "a/b"\n}\n');
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it("keeps the mode of the file, a byte order mark, and a link to the file", async () => {
    await mkdir(home, { recursive: true });
    await writeFile(join(base, "dot.json"), "\uFEFF{}", { mode: 0o640 });
    await symlink(join(base, "dot.json"), file());
    await setSetting(world, home, "model", "a/b");
    expect(await readFile(join(base, "dot.json"), "utf8")).toBe('\uFEFF{\n  "model": "a/b"\n}');
    expect((await stat(join(base, "dot.json"))).mode & 0o777).toBe(0o640);
    expect(await readFile(file(), "utf8")).toContain("a/b");
  });

  it.each([
    ["model", 5, "model must be a name without spaces, not 5. Nothing was changed."],
    ["limits", { maxTurns: 0 }, "limits.maxTurns must be a whole number of 1 or more, not 0. Nothing was changed."],
    [
      "limits.maxTurn",
      5,
      'Unknown setting limits.maxTurn. Did you mean limits.maxTurns? "parley config list" shows all settings.',
    ],
    ["mcpServers.x.args", [], "mcpServers.x needs one of command, url, httpUrl. Nothing was changed."],
    ["pools.x y", {}, '"pools.x y" is not a valid setting name. "parley config list" shows all settings.'],
    ["model.name", "x", 'Unknown setting model.name: model is not an object. "parley config list" shows all settings.'],
    ["__proto__.x", 1, 'Unknown setting __proto__. "parley config list" shows all settings.'],
    ["toString", 1, 'Unknown setting toString. "parley config list" shows all settings.'],
  ])("%s to an invalid value is refused and changes nothing", async (path, value, message) => {
    await keep('{ "sandbox": true }');
    await expect(setSetting(world, home, path, value)).rejects.toThrow(message);
    expect(await text()).toBe('{ "sandbox": true }');
  });

  it("works in a file with an error elsewhere, and can correct it", async () => {
    await keep('{ "context": { "fullContext": 1 } }');
    await setSetting(world, home, "context.fileName", ["X.md"]);
    expect(JSON.parse(await text())).toEqual({ context: { fullContext: 1, fileName: ["X.md"] } });
    await keep('{ "sandbox": "yes", "limits": 5 }');
    await setSetting(world, home, "model", "a/b");
    await setSetting(world, home, "sandbox", true);
    await setSetting(world, home, "limits.spend", 1);
    expect(JSON.parse(await text())).toEqual({ sandbox: true, limits: { spend: 1 }, model: "a/b" });
  });

  it("does not change a file with a syntax error", async () => {
    await keep('{ "sandbox": tru }');
    await expect(setSetting(world, home, "model", "a/b")).rejects.toThrow('line 1, column 14: Unexpected "tru".');
    await expect(unsetSetting(world, home, "model")).rejects.toThrow('line 1, column 14: Unexpected "tru".');
    expect(await text()).toBe('{ "sandbox": tru }');
  });

  it("reports a file that cannot be written", async () => {
    await mkdir(file(), { recursive: true });
    await expect(setSetting(world, home, "model", "a/b")).rejects.toMatchObject({ fault: { kind: "no-access" } });
  });

  it("leaves no other files", async () => {
    await setSetting(world, home, "model", "a/b");
    expect([await readdir(home), await readdir(join(home, "locks"))]).toEqual([["locks", "settings.json"], []]);
  });
});

describe("processes that change settings at the same time", () => {
  it("do not overwrite each other's changes", async () => {
    const names = perTier({ quick: ["a", "b"], all: ["a", "b", "c", "d"] });
    const each = 6;
    const script = bundleScript(fileURLToPath(new URL("../../../test/support/set-settings.ts", import.meta.url)), base);
    const run = (name: string) => promisify(execFile)(process.execPath, [script, home, name, String(each)]);
    await Promise.all(names.map(run));
    const { pools } = JSON.parse(await text()) as { pools: object };
    const expected = names.flatMap((name) => Array.from({ length: each }, (_, at) => `${name}${at}`));
    expect(Object.keys(pools).toSorted()).toEqual(expected);
  });
});
