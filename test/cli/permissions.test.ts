import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt, type Ran } from "../built.ts";

beforeAll(ensureBuilt);

let base: string;
let project: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-permissions-")));
  project = join(base, "project");
  mkdirSync(project);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const parley = (...args: readonly string[]): Ran => {
  const ran = spawnSync(process.execPath, [bin, ...args], {
    cwd: project,
    env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base },
    encoding: "utf8",
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
};

const permissions = (...args: readonly string[]): Ran => parley("permissions", ...args);

describe("parley permissions", () => {
  it("lists the rules in force with their source, as a table or as JSON", () => {
    parley("trust", ".");
    mkdirSync(join(base, ".parley"), { recursive: true });
    writeFileSync(
      join(base, ".parley/settings.json"),
      '{"permissions": {"allow": ["host:a.test"], "deny": ["web_fetch"]}}',
    );
    permissions("add", "run_shell_command(npm test)");
    permissions("add", "path:secrets", "--deny");
    expect(permissions()).toEqual({
      code: 0,
      out: [
        "allow  run_shell_command(npm test)  this project",
        "deny   path:secrets                 this project",
        "allow  host:a.test                  your settings",
        "deny   web_fetch                    your settings",
        "",
      ].join("\n"),
      err: "",
    });
    expect(JSON.parse(permissions("list", "--json").out)).toEqual({
      folder: project,
      mode: "default",
      trusted: true,
      rules: [
        { list: "allow", rule: "run_shell_command(npm test)", source: "project" },
        { list: "deny", rule: "path:secrets", source: "project" },
        { list: "allow", rule: "host:a.test", source: "settings" },
        { list: "deny", rule: "web_fetch", source: "settings" },
      ],
    });
  });

  it("stores a rule for this folder only, outside the project, and takes it back", () => {
    parley("trust", ".");
    expect(permissions("add", "edits")).toEqual({ code: 0, out: `Allowed in ${project}: edits\n`, err: "" });
    expect(readdirSync(project)).toEqual([]);
    mkdirSync(join(project, "sub"));
    expect(permissions("--cwd", "sub").err).toBe(
      "parley: No permission rules. Add one with parley permissions add RULE.\n",
    );
    expect(permissions("remove", "write_file").code).toBe(1);
    expect(permissions("remove", "edits")).toEqual({ code: 0, out: "Removed 1 rule.\n", err: "" });
    expect(permissions("remove", "--all")).toEqual({
      code: 1,
      out: "",
      err: "parley: No rules are stored for this project. See parley permissions list.\n",
    });
  });

  it("decides what a run may do", () => {
    parley("trust", ".");
    const run = () => parley("-p", 'create notes.md with "milk"', "-m", "offline", "--output-format", "json");
    const denied = (ran: Ran) => (JSON.parse(ran.out) as { permission_denials: readonly unknown[] }).permission_denials;
    expect(denied(run())).toHaveLength(1);
    permissions("add", "edits");
    expect([denied(run()), readdirSync(project)]).toEqual([[], ["notes.md"]]);
    permissions("add", "write_file", "--deny");
    expect(denied(run())).toMatchObject([{ reason: "Denied by the rule write_file." }]);
  });

  it("says that allow rules do not apply in a folder that is not trusted", () => {
    expect(permissions("add", "edits").err).toBe(
      "parley: This folder is not trusted, so allow rules do not apply. Trust it with parley trust.\n",
    );
  });

  it.each([
    [["add", "Bash(npm test:*)"], 2, 'Unknown rule "Bash(npm test:*)". Did you mean run_shell_command(npm test)?'],
    [["add"], 2, "Missing argument RULE: parley permissions add RULE."],
    [["allow"], 2, 'Unknown action "allow" for permissions. Available: list, add, remove.'],
    [["--cwd", "nowhere"], 2, "No such folder:"],
  ])("rejects wrong usage: %j", (args, code, message) => {
    const ran = permissions(...args);
    expect([ran.code, ran.err.includes(message)]).toEqual([code, true]);
  });

  it("does not use rules that other users can write", () => {
    parley("trust", ".");
    permissions("add", "edits");
    chmodSync(join(base, ".parley/permissions"), 0o777);
    expect(permissions("list")).toMatchObject({ code: 1, out: "" });
  });
});
