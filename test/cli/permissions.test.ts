import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

let base: string;
let project: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-permissions-")));
  project = join(base, "project");
  mkdirSync(project);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const parley = (...args: readonly string[]): Promise<Ran> =>
  runCommand(args, { cwd: project, env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base } });

const permissions = (...args: readonly string[]): Promise<Ran> => parley("permissions", ...args);

describe("parley permissions", () => {
  it("lists the rules in force with their source, as a table or as JSON", async () => {
    await parley("trust", ".");
    mkdirSync(join(base, ".parley"), { recursive: true });
    writeFileSync(
      join(base, ".parley/settings.json"),
      '{"permissions": {"allow": ["host:a.test"], "deny": ["web_fetch"]}}',
    );
    await permissions("add", "run_shell_command(npm test)");
    await permissions("add", "path:secrets", "--deny");
    expect(await permissions()).toEqual({
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
    expect(JSON.parse((await permissions("list", "--json")).out)).toEqual({
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

  it("stores a rule for this folder only, outside the project, and takes it back", async () => {
    await parley("trust", ".");
    expect(await permissions("add", "edits")).toEqual({ code: 0, out: `Allowed in ${project}: edits\n`, err: "" });
    expect(readdirSync(project)).toEqual([]);
    mkdirSync(join(project, "sub"));
    expect((await permissions("--cwd", "sub")).err).toBe(
      "parley: No permission rules. Add one with parley permissions add RULE.\n",
    );
    expect((await permissions("remove", "write_file")).code).toBe(1);
    expect(await permissions("remove", "edits")).toEqual({ code: 0, out: "Removed 1 rule.\n", err: "" });
    expect(await permissions("remove", "--all")).toEqual({
      code: 1,
      out: "",
      err: "parley: No rules are stored for this project. See parley permissions list.\n",
    });
  });

  it("decides what a run may do", async () => {
    await parley("trust", ".");
    const run = () => parley("-p", 'create notes.md with "milk"', "-m", "offline", "--output-format", "json");
    const denied = (ran: Ran) => (JSON.parse(ran.out) as { permission_denials: readonly unknown[] }).permission_denials;
    expect(denied(await run())).toHaveLength(1);
    await permissions("add", "edits");
    expect([denied(await run()), readdirSync(project)]).toEqual([[], ["notes.md"]]);
    await permissions("add", "write_file", "--deny");
    expect(denied(await run())).toMatchObject([{ reason: "Denied by the rule write_file." }]);
  });

  it("says that allow rules do not apply in a folder that is not trusted", async () => {
    expect((await permissions("add", "edits")).err).toBe(
      "parley: This folder is not trusted, so allow rules do not apply. Trust it with parley trust.\n",
    );
  });

  it.each([
    [["add", "Bsh(npm test:*)"], 2, 'Unknown rule "Bsh(npm test:*)". Did you mean Bash(npm test:*)?'],
    [["add", "Read(/etc)"], 2, "Did you mean Read(./etc) or Read(//etc)?"],
    [["add", 'Bash(git commit -m "x")'], 2, "has quotes, variables or operators"],
    [["add"], 2, "Missing argument RULE: parley permissions add RULE."],
    [["allow"], 2, 'Unknown action "allow" for permissions. Available: list, add, remove, import.'],
    [["--cwd", "nowhere"], 2, "No such folder:"],
  ])("rejects wrong usage: %j", async (args, code, message) => {
    const ran = await permissions(...args);
    expect([ran.code, ran.err.includes(message)]).toEqual([code, true]);
  });

  it("does not use rules that other users can write", async () => {
    await parley("trust", ".");
    await permissions("add", "edits");
    chmodSync(join(base, ".parley/permissions"), 0o777);
    expect(await permissions("list")).toMatchObject({ code: 1, out: "" });
  });
});
