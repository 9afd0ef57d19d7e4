import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { createSettingsSchema } from "../../src/settings/schema/json-schema.ts";
import { settingPaths } from "../../src/settings/schema/table.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { bin, ensureBuilt, type Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

beforeAll(ensureBuilt);

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-config-")));
  root = join(base, "project");
  mkdirSync(root);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const config = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runCommand(["config", ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base, ...env },
  });

const file = (): string => join(base, ".parley/settings.json");
const writeSettings = (text: string): void => {
  mkdirSync(join(base, ".parley"), { recursive: true });
  writeFileSync(file(), text);
};
const ok = (out = ""): Ran => ({ code: 0, out, err: "" });

describe("parley config", () => {
  it("lists every setting with its value and source, in lines of at most 100 characters", async () => {
    writeSettings('{ "model": "a/b", "permissions": { "allow": ["read_file"] } }');
    const { code, out, err } = await config([], { EDITOR: "ed" });
    expect([code, err]).toEqual([0, ""]);
    const rows = out.trimEnd().split("\n");
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(settingPaths);
    expect(
      rows
        .map((row) => row.split(/ {2,}/))
        .filter(([name]) => /^(model|editor|sandbox|limits.spend|permissions.allow)$/.test(name ?? "")),
    ).toEqual([
      ["model", '"a/b"', "~/.parley/settings.json"],
      ["permissions.allow", "[]", "this folder is not trusted"],
      ["sandbox", "false", "default"],
      ["limits.spend", "-", "not set"],
      ["editor", '"ed"', "EDITOR"],
    ]);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(100);
    expect((await config(["list"], { EDITOR: "ed" })).out).toBe(out);
  });

  it("prints the same as JSON", async () => {
    writeSettings('{ "model": "a/b", "modle": 1 }');
    const { out, err } = await config(["--json"]);
    const printed = JSON.parse(out) as { readonly file: string; readonly settings: object; readonly warnings: unknown };
    const warning = `${file()}, line 1: Unknown setting modle. Did you mean model or models?`;
    expect([printed.file, printed.warnings, err]).toEqual([file(), [warning], `parley: ${warning}\n`]);
    expect(printed.settings).toMatchObject({
      model: { value: "a/b", sources: [{ from: "user", where: file() }] },
      sandbox: { value: false, sources: [{ from: "default" }] },
    });
  });

  it("sets, gets and unsets", async () => {
    writeSettings("{\n  // mine\n}\n");
    expect(await config(["get", "limits.spend"])).toEqual({
      code: 1,
      out: "",
      err: "parley: limits.spend is not set.\n",
    });
    expect(await config(["set", "limits.spend", "2.5"])).toEqual(ok());
    expect(readFileSync(file(), "utf8")).toBe('{\n  // mine\n  "limits": {\n    "spend": 2.5\n  }\n}\n');
    expect(await config(["get", "limits.spend"])).toEqual(ok("2.5\n"));
    expect(await config(["get", "limits"])).toEqual(
      ok('{\n  "toolTime": 600,\n  "idleTime": 300,\n  "answerTime": 3600,\n  "spend": 2.5,\n  "processes": 8\n}\n'),
    );
    expect(JSON.parse((await config(["get", "limits.spend", "--json"])).out)).toEqual({
      path: "limits.spend",
      value: 2.5,
      sources: [{ from: "user", where: file() }],
    });
    expect(await config(["unset", "limits.spend"])).toEqual(ok());
    expect(readFileSync(file(), "utf8")).toBe("{\n  // mine\n}\n");
    expect(await config(["unset", "limits.spend"])).toEqual({
      code: 1,
      out: "",
      err: `parley: limits.spend is not set in ${file()}.\n`,
    });
  });

  it("accepts comma-separated lists and JSON, and prints strings without quotes", async () => {
    expect(await config(["set", "permissions.deny", "write_file,run_shell_command(git push)"])).toEqual(ok());
    expect(await config(["set", "mcpServers.x", '{"command": "x", "args": ["a"]}'])).toEqual(ok());
    expect(await config(["get", "permissions.deny"])).toEqual(
      ok('[\n  "write_file",\n  "run_shell_command(git push)"\n]\n'),
    );
    expect(await config(["get", "mcpServers.x.command"])).toEqual(ok("x\n"));
    expect((await config(["get", "mcpServers.y.command"])).code).toBe(1);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it.each([
    [["set", "model", "a b"], 'model must be a name without spaces, not "a b". Nothing was changed.'],
    [
      ["set", "limits.spent", "1"],
      'Unknown setting limits.spent. Did you mean limits.spend? "parley config list" shows all settings.',
    ],
    [["get", "modle"], 'Unknown setting modle. Did you mean model or models? "parley config list" shows all settings.'],
    [["set", "model"], "Missing argument VALUE."],
    [["get"], "Missing argument PATH."],
    [["get", "model", "x"], 'Unexpected argument "x" for config get.'],
    [["delete", "model"], 'Unknown action "delete" for config. Available: list, get, set, unset, edit, path, schema.'],
  ])("rejects %j", async (args, message) => {
    const { code, out, err } = await config(args);
    expect([code, out, err.split("\n")[0]]).toEqual([2, "", `parley: ${message}`]);
    expect(existsSync(file())).toBe(false);
  });

  it("reports the position of an error in the file, and does not change it", async () => {
    writeSettings('{\n  "model": "a/b"\n  "sandbox": true\n}');
    for (const args of [[], ["get", "model"], ["set", "model", "c/d"]])
      expect(await config(args)).toEqual({
        code: 1,
        out: "",
        err: `parley: Cannot read ${file()}: line 3, column 3: Expected ",". Correct it there; the file was not changed.\n`,
      });
    expect(readFileSync(file(), "utf8")).toBe('{\n  "model": "a/b"\n  "sandbox": true\n}');
  });

  it("prints the path of the file, which follows PARLEY_HOME, and the schema", async () => {
    expect(await config(["path"])).toEqual(ok(`${file()}\n`));
    expect(await config(["path"], { PARLEY_HOME: join(base, "p") })).toEqual(ok(`${join(base, "p/settings.json")}\n`));
    expect(JSON.parse((await config(["schema"])).out)).toEqual(createSettingsSchema());
  });

  it("never prints a key", async () => {
    const key = `sk-ant-${"a1B2".repeat(10)}`;
    writeSettings(
      JSON.stringify({
        mcpServers: {
          x: { command: "x", args: [`--key=${key}`], env: { A: key, B: "plain" }, headers: { C: "$NAME" } },
        },
      }),
    );
    const runs = [[], ["--json"], ["get", "mcpServers"], ["get", "mcpServers.x.env.B"], ["get", "mcpServers.x.args"]];
    for (const args of runs) {
      const { out, err } = await config(args);
      expect(out + err).not.toContain(key);
      expect(out + err).not.toContain("plain");
    }
    expect(await config(["get", "mcpServers.x.headers.C"])).toEqual(ok("$NAME\n"));
  });

  it("shows what a trusted project makes stricter, and which of its programs need consent", async () => {
    mkdirSync(join(root, ".parley"));
    const wishes = { permissions: { mode: "plan" }, mcpServers: { x: { command: "touch" } } };
    writeFileSync(join(root, ".parley/settings.json"), JSON.stringify(wishes));
    expect(await config(["get", "permissions.mode"])).toEqual(ok("default\n"));
    await openTrustStore(realWorld().disk, join(base, ".parley")).trustFolder(root);
    expect(await config(["get", "permissions.mode"])).toEqual(ok("plan\n"));
    const { out } = await config([]);
    expect(out).toMatch(/^permissions\.mode +"plan" +this project$/m);
    expect(out).toMatch(/^mcpServers\.x of this project runs only if you allow it\.$/m);
  });

  it("opens the file in an editor, and reports errors in the edited file", async () => {
    const editor = join(base, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nprintf \'%s\' "$TEXT" > "$2"\n');
    chmodSync(editor, 0o755);
    const edit = (text: string) => config(["edit"], { VISUAL: `${editor} -w`, TEXT: text });
    expect(await edit('{ "model": "a/b" }')).toEqual(ok());
    expect(await config(["get", "model"])).toEqual(ok("a/b\n"));
    expect(await edit('{ "model": }')).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 1, column 12") as string,
    });
    expect(await edit('{ "model": "c/d" }')).toEqual(ok());
    expect(await config(["edit"], { VISUAL: join(base, "none") })).toMatchObject({
      code: 1,
      err: expect.stringContaining("Cannot start ") as string,
    });
  });

  it("does not start an editor from the current folder", async () => {
    const mark = join(base, "mark");
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "bin", "some-editor"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    const PATH = `${join(root, "bin")}:${process.env["PATH"]}`;
    expect(await config(["edit"], { VISUAL: "some-editor", PATH })).toMatchObject({
      code: 1,
      err: expect.stringContaining("Cannot start some-editor") as string,
    });
    expect(existsSync(mark)).toBe(false);
  });

  it("completes the paths of settings", () => {
    const script = `source <("$NODE" "$PARLEY" completion bash)
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const complete = (...words: readonly string[]): readonly string[] =>
      spawnSync("bash", ["-c", script, "bash", "parley", "config", ...words], {
        env: { ...process.env, NODE: process.execPath, PARLEY: bin },
        encoding: "utf8",
      })
        .stdout.split("\n")
        .filter((line) => line !== "");
    expect(complete("un")).toEqual(["unset"]);
    expect(complete("get", "limits.")).toEqual(settingPaths.filter((path) => path.startsWith("limits.")));
    expect(complete("set", "unsup")).toEqual(["unsupportedMedia"]);
  });
});
