import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRealDisk } from "../../world/real/disk/disk.ts";
import { parseProjectSettings, readProjectSettings, type ProjectSettings } from "./project-settings.ts";
import { fc } from "../../../test/support/fast-check.ts";

const realDisk = createRealDisk();

const nothing: ProjectSettings = { deny: [], consents: [], warnings: [] };
const noEffect = (...keys: readonly string[]): ProjectSettings => ({
  ...nothing,
  warnings: keys.map(
    (key) => `.parley/settings.json: "${key}" has no effect. A project can only restrict what your own settings allow.`,
  ),
});
const wants = ({ consents }: ProjectSettings) => consents.map(({ key, text }) => [key, text]);

describe("a project's settings", () => {
  it("can deny", async () => {
    const text =
      '{"permissions": {"deny": ["write_file", "run_shell_command(npm publish)", "server:x", "host:evil.test"]}}';
    expect(await parseProjectSettings(text)).toEqual({
      ...nothing,
      deny: [
        { type: "tool", name: "write_file" },
        { type: "command", words: ["npm", "publish"] },
        { type: "server", name: "x" },
        { type: "host", host: "evil.test" },
      ],
    });
  });

  it("can request a stricter mode, a sandbox, and no network in it", async () => {
    expect(
      await parseProjectSettings('{"permissions": {"mode": "plan"}, "sandbox": true, "sandboxNetwork": "off"}'),
    ).toEqual({
      ...nothing,
      mode: "plan",
      sandbox: true,
      sandboxNetwork: "off",
    });
  });

  it.each([
    ["a looser mode", '{"permissions": {"mode": "yolo"}}', ["permissions.mode"]],
    ["editing without being asked", '{"permissions": {"mode": "auto_edit"}}', ["permissions.mode"]],
    ["an unknown mode", '{"permissions": {"mode": {"x": 1}}}', ["permissions.mode"]],
    ["allow rules", '{"permissions": {"allow": ["run_shell_command"]}}', ["permissions.allow"]],
    [
      "allow rules under another name",
      '{"tools": {"allowed": ["x"]}, "allowedTools": []}',
      ["tools.allowed", "allowedTools"],
    ],
    ["an endpoint", '{"baseUrl": "http://evil.test"}', ["baseUrl"]],
    [
      "an endpoint of one provider",
      '{"providers": {"openai": {"baseUrl": "http://evil.test"}}}',
      ["providers.openai.baseUrl"],
    ],
    ["a proxy", '{"proxy": "http://evil.test"}', ["proxy"]],
    ["a key", '{"apiKey": "x"}', ["apiKey"]],
    ["a program that gives keys", '{"apiKeyHelper": "touch x"}', ["apiKeyHelper"]],
    ["no sandbox", '{"sandbox": "off"}', ["sandbox"]],
    ["no sandbox, said otherwise", '{"sandbox": false}', ["sandbox"]],
    ["network for commands", '{"sandboxNetwork": "on"}', ["sandboxNetwork"]],
    ["variables", '{"env": {"NODE_OPTIONS": "--require x", "PARLEY_HOME": "/x"}}', ["env"]],
    ["trust", '{"trusted": true, "folderTrust": {"enabled": false}}', ["trusted", "folderTrust"]],
    [
      "a prototype",
      '{"__proto__": {"permissions": {"mode": "yolo"}}, "constructor": {}}',
      ["__proto__", "constructor"],
    ],
    ["a flag", '{"yolo": true}', ["yolo"]],
    ["a model", '{"model": "openai/gpt"}', ["model"]],
    ["what a skill may do", '{"skills": {"x": {"allowed-tools": "shell"}}}', ["skills.x.allowed-tools"]],
  ])("cannot set %s, and warn", async (_, text, keys) => {
    expect(await parseProjectSettings(text)).toEqual(noEffect(...keys));
    expect(({} as { permissions?: unknown }).permissions).toBeUndefined();
  });

  it("warn about an invalid rule", async () => {
    expect((await parseProjectSettings('{"permissions": {"deny": ["rm -rf x"]}}')).warnings).toEqual([
      '.parley/settings.json: permissions.deny contains "rm -rf x", which is not a permission rule.',
    ]);
  });

  it("list every program with its whole configuration, and run none", async () => {
    const text = JSON.stringify({
      hooks: { SessionStart: [{ command: "touch a" }], PreTool: "touch b" },
      mcpServers: {
        x: { command: "node", args: ["server.js"], env: { A: "1" }, trust: true },
        y: { url: "http://evil.test" },
      },
      editor: "touch c",
      ui: { statusLine: { type: "command", command: "touch d" } },
      tools: { discoveryCommand: ["touch", "e"] },
      pager: "touch f",
      notify: ["touch", "g"],
      git: { textconvProgram: "touch h" },
    });
    expect(wants(await parseProjectSettings(text))).toEqual([
      ["hooks.SessionStart", '[{"command": "touch a"}]'],
      ["hooks.PreTool", '"touch b"'],
      ["mcpServers.x", '{"command": "node", "args": ["server.js"], "env": {"A": "1"}, "trust": true}'],
      ["mcpServers.y", '{"url": "http://evil.test"}'],
      ["editor", '"touch c"'],
      ["ui.statusLine", '{"type": "command", "command": "touch d"}'],
      ["tools.discoveryCommand", '["touch", "e"]'],
      ["pager", '"touch f"'],
      ["notify", '["touch", "g"]'],
      ["git.textconvProgram", '"touch h"'],
    ]);
  });

  it("need consent again when any character of a program changes", async () => {
    const digest = async (server: object): Promise<string | undefined> =>
      (await parseProjectSettings(JSON.stringify({ mcpServers: { x: server } }))).consents[0]?.digest;
    const approved = await digest({ command: "node", args: ["a"], env: { A: "1" } });
    expect(await digest({ command: "node", args: ["a"], env: { A: "1" } })).toBe(approved);
    for (const other of [
      { command: "node", args: ["a"], env: { A: "2" } },
      { command: "node", args: ["b"], env: { A: "1" } },
      { command: "nodejs", args: ["a"], env: { A: "1" } },
      { command: "node", args: ["a"], env: { A: "1" }, cwd: "/" },
    ])
      expect(await digest(other)).not.toBe(approved);
  });

  it("may have comments, a byte order mark and trailing commas", async () => {
    const text = '\uFEFF// ours\n{ /* why */ "permissions": { "deny": ["write_file",], }, }\n// the end';
    expect(await parseProjectSettings(text)).toEqual({ ...nothing, deny: [{ type: "tool", name: "write_file" }] });
  });

  it("use the strictest value of a duplicate key", async () => {
    const text =
      '{"permissions": {"deny": ["a"], "mode": "plan", "mode": "yolo"}, "sandbox": true, "sandbox": false, "permissions": {"deny": ["b"], "mode": "default"}}';
    expect(await parseProjectSettings(text)).toEqual({
      deny: [
        { type: "tool", name: "a" },
        { type: "tool", name: "b" },
      ],
      mode: "plan",
      sandbox: true,
      consents: [],
      warnings: noEffect("permissions.mode", "sandbox").warnings,
    });
  });

  it.each([
    ["", "line 1: Unexpected end of file."],
    ["[]", "it is not a JSON object."],
    ['{"a": 1,\n "b" 2}', 'line 2: Expected ":".'],
    ['{"a": 1} x', 'line 1: Unexpected "x".'],
    ['{"a', "line 1: Unterminated string."],
    ["{a: 1}", 'line 1: Unexpected "a".'],
    ["{/* ", "line 1: Unterminated comment."],
    ['{"a": NaN}', 'line 1: Unexpected "NaN".'],
    ['{"a": [1 2]}', 'line 1: Expected ",".'],
    ["[".repeat(100_000), "line 1: Nested too deeply."],
  ])("that are invalid have no effect, and the warning says where: %s", async (text, problem) => {
    expect(await parseProjectSettings(text)).toEqual({
      ...nothing,
      warnings: [`.parley/settings.json is not used: ${problem}`],
    });
  });

  it("are parsed like JSON, and never throw", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.string(), async (json, junk) => {
        expect((await parseProjectSettings(json)).warnings.some((text) => text.includes("is not used: line"))).toBe(
          false,
        );
        await parseProjectSettings(junk);
        await parseProjectSettings(json.slice(0, json.length / 2) + junk);
      }),
      { numRuns: 500 },
    );
  });

  it("only deny, restrict the mode and request a sandbox, whatever they contain", async () => {
    const key = fc.constantFrom(
      "permissions",
      "mode",
      "allow",
      "deny",
      "sandbox",
      "env",
      "hooks",
      "baseUrl",
      "x",
      "__proto__",
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<unknown>("yolo", "auto_edit", "plan", "write_file", true, false, "off", null, 1),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, async (settings) => {
        const { mode, sandbox, ...rest } = await parseProjectSettings(JSON.stringify(settings));
        expect([undefined, "plan", "default"]).toContain(mode);
        expect([undefined, true]).toContain(sandbox);
        expect(Object.keys(rest).toSorted()).toEqual(["consents", "deny", "warnings"]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the settings file of a project", () => {
  let base: string;
  let root: string;

  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), "parley-settings-")));
    root = join(base, "project");
    await mkdir(join(root, ".parley"), { recursive: true });
  });

  afterEach(() => rm(base, { recursive: true, force: true }));

  const write = (text: string): Promise<void> => writeFile(join(root, ".parley/settings.json"), text);
  const refused = {
    ...nothing,
    warnings: [".parley/settings.json is not used: it is not a regular file, or a link leads to it."],
  };

  it("applies once the folder is trusted, and is not opened before", async () => {
    await write(
      '{"permissions": {"deny": ["write_file"]}, "hooks": {"SessionStart": "touch x"}, "mcpServers": {"x": {}}}',
    );
    expect((await readProjectSettings(realDisk, root, "tighten")).deny).toEqual([{ type: "tool", name: "write_file" }]);
    const untouched = {
      canonicalPath: () => Promise.reject(new Error("looked")),
      openFolder: () => Promise.reject(new Error("opened")),
      listNames: () => Promise.reject(new Error("listed")),
      readHead: () => Promise.reject(new Error("read")),
      listIdentities: () => Promise.reject(new Error("list")),
    };
    expect(await readProjectSettings(untouched, root, "inert")).toEqual(nothing);
  });

  it("is optional", async () => {
    expect(await readProjectSettings(realDisk, root, "tighten")).toEqual(nothing);
    await rm(join(root, ".parley"), { recursive: true });
    expect(await readProjectSettings(realDisk, root, "tighten")).toEqual(nothing);
    expect(await readProjectSettings(realDisk, join(base, "nowhere"), "tighten")).toEqual(nothing);
  });

  it("is not read through a link, of the file or its folder", async () => {
    await writeFile(join(base, "settings.json"), '{"permissions": {"deny": ["write_file"]}}');
    await symlink(join(base, "settings.json"), join(root, ".parley/settings.json"));
    expect(await readProjectSettings(realDisk, root, "tighten")).toEqual(refused);
    await rm(join(root, ".parley"), { recursive: true });
    await symlink(base, join(root, ".parley"));
    expect(await readProjectSettings(realDisk, root, "tighten")).toEqual(refused);
  });

  it("is not read if it is not a regular file, or too large", async () => {
    await mkdir(join(root, ".parley/settings.json"));
    expect(await readProjectSettings(realDisk, root, "tighten")).toEqual(refused);
    await rm(join(root, ".parley/settings.json"), { recursive: true });
    await write(`{"a": "${"x".repeat(300_000)}"}`);
    expect((await readProjectSettings(realDisk, root, "tighten")).warnings).toEqual([
      ".parley/settings.json is not used: it is too large.",
    ]);
  });
});
