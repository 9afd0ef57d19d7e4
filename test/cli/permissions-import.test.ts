import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../support/run-command.ts";
import type { Ran } from "../built.ts";

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-import-")));
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
const ownSettings = (): unknown => JSON.parse(readFileSync(join(base, ".parley/settings.json"), "utf8"));

describe("parley permissions import", () => {
  it("takes what only a rule about other tools cannot be taken over for, and each rule once", async () => {
    const permission = { bash: { "git push *": "allow" }, webfetch: "allow" };
    put(".config/opencode/opencode.json", { permission, tools: { "issues_*": false } });
    put(".gemini/settings.json", { tools: { allowed: ["web_fetch", "WebFetchTool"] } });
    await parley("permissions", "import", "opencode", "--yes");
    await parley("adopt", "--only", "permissions", "--all", "--yes");
    expect(ownSettings()).toEqual({ permissions: { allow: ["run_shell_command(git push)", "web_fetch"] } });
  });

  const policy = (...rules: readonly string[]): string => rules.map((rule) => `[[rule]]\n${rule}\n`).join("\n");
  const shell = 'toolName = "run_shell_command"\n';
  it.each<[string, string, string, unknown, readonly string[]]>([
    [
      "a deny rule with quotes",
      "claude",
      ".claude/settings.json",
      { permissions: { allow: ["Bash(git:*)", "Bash(npm test)"], deny: ['Bash(git push "x":*)'] } },
      ["Bash(npm test)"],
    ],
    [
      "a deny rule with quotes, and a mode",
      "claude",
      ".claude/settings.json",
      { permissions: { allow: ["Bash"], deny: ["Bash(curl*|*sh)", "Edit(a[b])"], defaultMode: "acceptEdits" } },
      [],
    ],
    [
      "a deny rule for tools by pattern",
      "claude",
      ".claude/settings.json",
      { permissions: { allow: ["Bash(npm test)", "mcp__a__b"], deny: ["Ba*"] } },
      [],
    ],
    [
      "a rule that is not read",
      "codex",
      ".codex/rules/a.rules",
      'prefix_rule(pattern=["git"], decision="allow")\nprefix_rule(pattern=DANGEROUS, decision="forbidden")',
      [],
    ],
    [
      "a forbidden word with spaces",
      "codex",
      ".codex/rules/a.rules",
      'prefix_rule(pattern=["sh", "-c"], decision="allow")\nprefix_rule(pattern=["ls"], decision="allow")\nprefix_rule(pattern=["sh", "-c", "rm x"], decision="forbidden")',
      ["run_shell_command(ls)"],
    ],
    [
      "a regular expression",
      "gemini",
      ".gemini/policies/a.toml",
      policy(
        `${shell}decision = "allow"\npriority = 1`,
        `${shell}commandPrefix = "ls"\ndecision = "allow"\npriority = 300`,
        `${shell}commandRegex = "^rm"\ndecision = "deny"\npriority = 200`,
      ),
      ["run_shell_command(ls)"],
    ],
    [
      "a deny rule with an exception",
      "gemini",
      ".gemini/policies/a.toml",
      policy(
        `${shell}decision = "allow"\npriority = 1`,
        `${shell}commandPrefix = "rm"\ndecision = "deny"\npriority = 10`,
        `${shell}commandPrefix = "rm -i"\ndecision = "allow"\npriority = 20`,
      ),
      ["run_shell_command(rm -i)"],
    ],
    [
      "another file that is broken",
      "gemini",
      ".gemini/settings.json",
      { tools: { allowed: ["run_shell_command(git)"] } },
      [],
    ],
    [
      "the last word",
      "opencode",
      ".config/opencode/opencode.json",
      { permission: { bash: { "git *": "allow", "npm *": "allow", "git push *": "ask", "git pu?h": "deny" } } },
      ["run_shell_command(npm)"],
    ],
    [
      "a last word about everything",
      "opencode",
      ".config/opencode/opencode.json",
      {
        permission: {
          bash: { "git *": "allow", "*": "ask", "ls *": "allow" },
          webfetch: "allow",
          "*": "ask",
          edit: "allow",
        },
      },
      ["edits"],
    ],
  ])(
    "allows nothing that %s limits there and that cannot be taken over",
    async (name, source, path, content, allowed) => {
      put(path, content);
      if (name.startsWith("another file")) put(".gemini/policies/broken.toml", "[[rule");
      const { out } = await parley("permissions", "import", source, "--yes", "--json");
      const { added, leftOut } = JSON.parse(out) as { added: { change: string }[]; leftOut: { reason: string }[] };
      const allows = added.map(({ change }) => change).filter((change) => !/^(?:deny|ask) /.test(change));
      expect(allows).toEqual(allowed.map((rule) => `allow ${rule}`));
      expect(leftOut.some(({ reason }) => reason.includes("limits it there"))).toBe(true);
    },
  );

  it("takes what restricts at once, what allows more only with --yes, and never twice", async () => {
    put(".claude/settings.json", {
      permissions: { allow: ["Bash(npm test:*)", "Skill(x)"], deny: ["Read(.env)"], defaultMode: "acceptEdits" },
    });
    expect(await parley("permissions", "import", "claude")).toEqual({
      code: 0,
      out: [
        "added      deny Read(.env)",
        "not added  allow run_shell_command(npm test), as it allows more",
        "not added  approval mode auto_edit, as it allows more",
        "left out   allow Skill(x): rules cannot name single subagents, skills or commands",
        "",
      ].join("\n"),
      err: [
        "parley: Rules that allow more need your consent: run this in a terminal, or with --yes.",
        "parley: This folder is not trusted, so its own rules were not read. See parley trust.",
        "",
      ].join("\n"),
    });
    expect(ownSettings()).toEqual({ permissions: { deny: ["Read(.env)"] } });
    await parley("permissions", "import", "claude", "--yes");
    expect(ownSettings()).toEqual({
      permissions: { deny: ["Read(.env)"], allow: ["run_shell_command(npm test)"], mode: "auto_edit" },
    });
    const before = ownSettings();
    expect((await parley("permissions", "import", "claude", "--yes")).out).toBe(
      [
        "present    allow run_shell_command(npm test)",
        "present    deny Read(.env)",
        "present    approval mode auto_edit",
        "left out   allow Skill(x): rules cannot name single subagents, skills or commands",
        "",
      ].join("\n"),
    );
    expect(ownSettings()).toEqual(before);
  });

  it("stores the rules of a trusted project for that project, in the person's own files", async () => {
    await parley("trust", ".");
    put("project/.claude/settings.local.json", { permissions: { allow: ["Bash(make:*)"], ask: ["Bash(git push)"] } });
    expect((await parley("permissions", "import", "claude", "--yes")).out).toBe(
      "added      allow run_shell_command(make) (this project)\nadded      ask Bash(git push) (this project)\n",
    );
    expect((await parley("permissions", "list")).out).toBe(
      "allow  run_shell_command(make)  this project\nask    Bash(git push), exactly  this project\n",
    );
  });

  it("refuses a file that a link leads out to, and names what cannot be parsed", async () => {
    put("outside/evil.rules", 'prefix_rule(pattern=["rm"], decision="allow")');
    put(".codex/rules/broken.rules", "import os");
    const elsewhere = mkdtempSync(join(tmpdir(), "parley-elsewhere-"));
    writeFileSync(join(elsewhere, "evil.rules"), 'prefix_rule(pattern=["rm"])');
    symlinkSync(join(elsewhere, "evil.rules"), join(base, ".codex/rules/link.rules"));
    const { out } = await parley("permissions", "import", "codex", "--yes");
    expect(out.split("\n")).toEqual([
      "left out   import os: only calls with literal arguments are supported; this and what follows it is not read",
      `left out   ${join(base, ".codex/rules/link.rules")}: the file is not read: a link leads out of ${base}`,
      "",
    ]);
    rmSync(elsewhere, { recursive: true });
  });

  it.each([
    [["import"], "Missing argument AGENT: parley permissions import claude|codex|gemini|qwen|opencode."],
    [
      ["import", "emacs"],
      'Unknown agent "emacs" for permissions import. Available: claude, codex, gemini, qwen, opencode.',
    ],
  ])("says what is wrong with %j", async (args, message) => {
    const { code, err } = await parley("permissions", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
