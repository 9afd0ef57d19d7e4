import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { translateClaudePermissions } from "../../src/extensions/permissions/claude.ts";
import { translateCodexRules } from "../../src/extensions/permissions/codex.ts";
import { translateGeminiPolicies } from "../../src/extensions/permissions/gemini.ts";
import { translateOpencodePermissions } from "../../src/extensions/permissions/opencode.ts";
import type { TranslatedPermissions } from "../../src/extensions/permissions/source-rules.ts";
import type { PermissionRules } from "../../src/policy/gate/permission-rules.ts";
import type { GateRequest } from "../../src/policy/gate/request.ts";
import { openPolicy, type SessionPolicy } from "../../src/policy/open-policy.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { fc } from "../support/fast-check.ts";

/*
 * Rules of other agents, judged by the real gate: an imported rule never allows more than its source says.
 */

let base: string;
let root: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-rules-")));
  root = join(base, "ws");
  for (const folder of ["secrets", "src", ".git", "deep/secrets"]) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["secrets/key", "src/a.ts", ".env", "deep/.env", "deep/secrets/key", "a.txt"])
    writeFileSync(join(root, file), "x");
  symlinkSync("secrets/key", join(root, "harmless"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const openGate = (permissions: Pick<TranslatedPermissions, "rules">, mode: "default" | "yolo" = "default") => {
  const on = (name: "allow" | "ask" | "deny"): PermissionRules["allow"] =>
    permissions.rules.flatMap(({ list, rule }) => (list === name ? [rule] : []));
  return openPolicy({
    world: { ...realWorld(), env: { PATH: process.env["PATH"] ?? "", HOME: base } },
    roots: [root],
    home: join(base, ".parley"),
    mode,
    rules: { commandLine: { allow: on("allow"), ask: on("ask"), deny: on("deny") } },
    interactive: true,
    trusted: true,
  });
};

const nothing = { reads: [], writes: [], urls: [] };
const at = (shown: string) => ({ path: join(root, shown), shown });

/** A call in short: `read PATH`, `edit PATH`, `fetch URL`, `mcp SERVER TOOL`; anything else is a command. */
const toRequest = (call: string): GateRequest => {
  const [kind = "", rest = "", more = ""] = call.split(" ");
  if (kind === "read") return { tool: "read_file", access: "read", touches: { ...nothing, reads: [at(rest)] } };
  if (kind === "edit") return { tool: "replace", access: "write", touches: { ...nothing, writes: [at(rest)] } };
  if (kind === "fetch") return { tool: "web_fetch", access: "network", touches: { ...nothing, urls: [rest] } };
  if (kind === "mcp") return { tool: more, access: "read", server: rest, touches: nothing };
  return {
    tool: "run_shell_command",
    access: "execute",
    touches: { ...nothing, command: { text: call, folder: root } },
  };
};

const decide = async (policy: SessionPolicy, call: string): Promise<string> =>
  (await policy.gate.judge(toRequest(call))).decision;

const claude = (permissions: object): TranslatedPermissions => translateClaudePermissions({ permissions }, "user");
const codex = translateCodexRules;
const gemini = (...rule: readonly object[]): TranslatedPermissions => translateGeminiPolicies([{ rule }]);
const opencode = (permission: unknown): TranslatedPermissions => translateOpencodePermissions({ permission });

type Row = readonly [name: string, permissions: TranslatedPermissions, calls: { readonly [call: string]: string }];

const rows: readonly Row[] = [
  [
    "Claude Bash(touch one) is exactly that",
    claude({ allow: ["Bash(touch one)"] }),
    { "touch one": "allow", "touch one two": "ask", "touch onex": "ask", touch: "ask" },
  ],
  [
    "Claude Bash(touch one:*) is a prefix at a word",
    claude({ allow: ["Bash(touch one:*)"] }),
    {
      "touch one": "allow",
      "touch one two": "allow",
      "touch onex": "ask",
      "touch one; mkdir x": "ask",
      "touch one && mkdir x": "ask",
      "touch one | sh": "ask",
      "touch one $(mkdir x)": "ask",
      "touch one `mkdir x`": "ask",
      "touch one > src/a.ts": "ask",
      "touch one & mkdir x": "ask",
      "touch one\nmkdir x": "ask",
      "touch one <(mkdir x)": "ask",
      "X=1 touch one": "ask",
      "LD_PRELOAD=x.so touch one": "ask",
      "touch one; rm -rf /": "deny",
      "sudo touch one": "ask",
      "xargs touch one": "ask",
      "touch 'one two'": "ask",
      "touch one\\ two": "ask",
      "t''ouch one": "allow",
      "./touch one": "ask",
    },
  ],
  [
    "Claude Bash(touch * end) needs both ends",
    claude({ allow: ["Bash(touch * end)"] }),
    {
      "touch a end": "allow",
      "touch a b end": "allow",
      "touch a endx": "ask",
      "touch 'a end'": "ask",
      "touch a end; mkdir b": "ask",
      "touch a end $(mkdir b)": "ask",
    },
  ],
  [
    "Claude Bash allows commands, but none that are never allowed",
    claude({ allow: ["Bash"] }),
    { "touch one": "allow", "rm -rf /": "deny", "rm -rf ~": "deny" },
  ],
  [
    "Claude deny wins over allow, however the command is wrapped",
    claude({ allow: ["Bash"], deny: ["Bash(mkdir:*)"] }),
    {
      "mkdir x": "deny",
      "env mkdir x": "deny",
      "touch a && mkdir x": "deny",
      "bash -c 'mkdir x'": "deny",
      "touch a": "allow",
    },
  ],
  [
    "Claude deny with a pattern",
    claude({ allow: ["Bash"], deny: ["Bash(mk*)", "Bash(touch * forbidden)"] }),
    {
      "mkdir x": "deny",
      "/bin/mkdir x": "deny",
      "touch a forbidden": "deny",
      "touch a": "allow",
      "bash -c 'mkdir x'": "deny",
    },
  ],
  [
    "Claude ask wins over allow",
    claude({ allow: ["Bash"], ask: ["Bash(mkdir:*)"] }),
    { "mkdir x": "ask", "touch a; mkdir x": "ask", "touch a": "allow" },
  ],
  [
    "Claude Read deny covers reading, editing and commands, through links too",
    claude({ deny: ["Read(./secrets/**)", "Read(.env)"], allow: ["Bash"] }),
    {
      "read secrets/key": "deny",
      "edit secrets/key": "deny",
      "read SECRETS/key": "deny",
      "read .env": "deny",
      "read deep/.env": "deny",
      "read deep/secrets/key": "allow",
      "read a.txt": "allow",
      "cat secrets/key": "deny",
      "cat ./secrets/../secrets/key": "deny",
      "cat harmless": "deny",
      "cp a.txt secrets/new": "deny",
      "cat a.txt": "allow",
    },
  ],
  [
    "Claude Edit(src/**) allows edits there, never of protected files",
    claude({ allow: ["Edit(src/**)", "Edit(.git/**)"] }),
    { "edit src/a.ts": "allow", "edit srcx/a.ts": "ask", "edit a.txt": "ask", "edit .git/hooks/pre-commit": "deny" },
  ],
  [
    "Claude WebFetch(domain:...)",
    claude({ allow: ["WebFetch(domain:example.com)"], deny: ["WebFetch(domain:evil.test)"] }),
    {
      "fetch https://example.com/a": "allow",
      "fetch https://example.com.evil.test/": "deny",
      "fetch https://sub.example.com/": "ask",
      "fetch https://example.com:8443/": "ask",
      "fetch https://example.com/?q=secret": "ask",
      "fetch https://user@example.com/": "ask",
      "fetch http://127.0.0.1/": "deny",
    },
  ],
  [
    "Claude MCP tools by server and name",
    claude({ allow: ["mcp__github__get_issue"], deny: ["mcp__other"] }),
    {
      "mcp github get_issue": "allow",
      "mcp github github__get_issue": "allow",
      "mcp github get_issues": "ask",
      "mcp evil get_issue": "ask",
      "mcp other anything": "deny",
    },
  ],
  [
    "Codex prefix rules",
    codex(`prefix_rule(pattern=["touch", ["one", "two"]], decision="allow")
prefix_rule(pattern=["mkdir"], decision="prompt", justification="why")  # a comment
prefix_rule(
  pattern = ["ln"],
  decision = "forbidden",
)`),
    {
      "touch one x": "allow",
      "touch two": "allow",
      "touch three": "ask",
      "touch one; mkdir x": "ask",
      "mkdir x": "ask",
      "ln a b": "deny",
    },
  ],
  [
    "Gemini policies",
    gemini(
      { toolName: "run_shell_command", commandPrefix: ["touch one"], decision: "allow", priority: 100 },
      { toolName: "run_shell_command", commandPrefix: "ln", decision: "deny", priority: 200 },
      { toolName: "run_shell_command", argsPattern: "mkdir", decision: "allow", priority: 100 },
      { mcpName: "github", toolName: "get_issue", decision: "allow" },
    ),
    {
      "touch one": "allow",
      "touch onex": "ask",
      "ln a b": "deny",
      "mkdir x": "ask",
      "mcp github get_issue": "allow",
      "mcp evil get_issue": "ask",
    },
  ],
  [
    "opencode's map",
    opencode({ bash: { "*": "allow", "mkdir *": "ask", "ln*": "deny" }, edit: "deny", read: { ".env": "deny" } }),
    { "touch x": "allow", "mkdir x": "ask", "ln a b": "deny", "edit a.txt": "deny", "read .env": "deny" },
  ],
  [
    "opencode's exceptions are left out, not reversed",
    opencode({ bash: { "*": "deny", "touch one": "allow" } }),
    { "touch one": "allow", "touch two": "ask" },
  ],
];

describe("an imported rule decides as its source says, or more strictly", () => {
  it.each(rows)("%s", async (_, permissions, calls) => {
    const policy = await openGate(permissions);
    try {
      const decided: Record<string, string> = {};
      for (const call of Object.keys(calls)) decided[call] = await decide(policy, call);
      expect(decided).toEqual(calls);
    } finally {
      await policy.close();
    }
  });

  it("hides files of rules that deny reading from lists and searches", async () => {
    const policy = await openGate(claude({ deny: ["Read(./secrets/**)", "Read(.env)"] }));
    try {
      const hidden = await Promise.all(
        ["secrets/key", ".env", "deep/.env", "deep/secrets/key"].map((path) =>
          policy.workspace.ignored(path, { git: false, own: true }),
        ),
      );
      expect(hidden).toEqual(["your deny rules", "your deny rules", "your deny rules", undefined]);
      expect(await decide(policy, "grep -r x .")).toBe("ask");
      expect(await decide(policy, "grep -r x src")).toBe("allow");
    } finally {
      await policy.close();
    }
  });
});

describe("no imported allow rule allows what the gate always denies", () => {
  const denied = [
    "rm -rf /",
    "rm -rf ~",
    "mkfs.ext4 /dev/sda",
    "edit .git/hooks/pre-commit",
    "fetch http://127.0.0.1/",
  ];
  const words = fc.constantFrom("rm", "-rf", "/", "~", "*", "mkfs.ext4", "/dev/sda", "git", ":*", "**", ".git", "//");
  const specifier = fc.array(words, { minLength: 1, maxLength: 4 }).map((list) => list.join(" "));
  const tool = fc.constantFrom("Bash", "Edit", "Write", "Read", "WebFetch", "mcp__x");
  const claudeRule = fc
    .tuple(tool, fc.option(fc.oneof(specifier, fc.constantFrom("domain:127.0.0.1", "domain:*.0.0.1", ".git/**"))))
    .map(([name, inner]) => (inner === null ? name : `${name}(${inner})`));

  it("whatever its text is, in every agent's form", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(claudeRule, { maxLength: 4 }),
        fc.array(specifier, { maxLength: 3 }),
        async (rules, patterns) => {
          const permissions = {
            rules: [
              ...claude({ allow: rules }).rules,
              ...opencode({ bash: Object.fromEntries(patterns.map((each) => [each, "allow"])), edit: "allow" }).rules,
              ...gemini({ toolName: "run_shell_command", commandPrefix: patterns, decision: "allow" }).rules,
              ...codex(patterns.map((each) => `prefix_rule(pattern=${JSON.stringify(each.split(" "))})`).join("\n"))
                .rules,
            ],
          };
          for (const mode of ["default", "yolo"] as const) {
            const policy = await openGate(permissions, mode);
            try {
              for (const call of denied) expect([call, await decide(policy, call)]).toEqual([call, "deny"]);
            } finally {
              await policy.close();
            }
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});
