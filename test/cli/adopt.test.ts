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
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

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
