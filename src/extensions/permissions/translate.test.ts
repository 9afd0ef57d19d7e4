import { describe, expect, it } from "vitest";
import { formatPermissionRule } from "../../policy/gate/permission-rules.ts";
import { translateClaudePermissions } from "./claude.ts";
import { translateCodexRules } from "./codex.ts";
import { translateGeminiPolicies } from "./gemini.ts";
import { translateOpencodePermissions } from "./opencode.ts";
import { translateQwenSettings, translateToolSettings } from "./tool-settings.ts";
import type { TranslatedPermissions } from "./source-rules.ts";

const summary = ({ rules, untranslated, mode, folders }: TranslatedPermissions): object => ({
  rules: rules.map(({ list, rule }) => `${list} ${formatPermissionRule(rule)}`),
  leftOut: untranslated.map(({ from, reason }) => `${from}: ${reason}`),
  ...(mode === undefined ? {} : { mode }),
  ...(folders === undefined ? {} : { folders }),
});

describe("permissions of Claude Code", () => {
  it("become rules, a mode and folders; the rest is listed with its reason", () => {
    const permissions = {
      allow: [
        "Bash(npm run test:*)",
        'Bash(git commit -m "x")',
        "Read(src/**)",
        "Edit(/docs/**)",
        "Agent(Explore)",
        "Skill(pdf)",
        "Bash(*.sh)",
        "Edit(//etc/**)",
        "NoSuchTool",
        5,
      ],
      ask: ["Bash(git push:*)", "WebFetch"],
      deny: ["Read(./.env)", "WebFetch(domain:evil.test)", "mcp__github", "Edit(a[b])"],
      defaultMode: "acceptEdits",
      additionalDirectories: ["../shared", "~/notes"],
      disableBypassPermissionsMode: "disable",
    };
    expect(summary(translateClaudePermissions({ permissions }, "project"))).toEqual({
      rules: [
        "allow run_shell_command(npm run test)",
        "allow Edit(./docs/**)",
        "ask run_shell_command(git push)",
        "ask web_fetch",
        "deny Read(./.env)",
        "deny host:evil.test",
        "deny server:github",
      ],
      leftOut: [
        'allow Bash(git commit -m "x"): "\\"x\\"" has quotes, variables or operators, whose meaning would be ambiguous',
        "allow Read(src/**): reading in the workspace needs no rule",
        "allow Agent(Explore): rules cannot name single subagents, skills or commands",
        "allow Skill(pdf): rules cannot name single subagents, skills or commands",
        "allow Bash(*.sh): an allow rule must name the program in full",
        "allow Edit(//etc/**): edits outside the workspace are never allowed",
        "allow NoSuchTool: it names a tool that Parley does not have",
        "deny Edit(a[b]): only * and ** are supported in patterns",
        "permissions.disableBypassPermissionsMode: it has no counterpart here",
      ],
      mode: "auto_edit",
      folders: ["../shared", "~/notes"],
    });
  });

  it.each([
    [undefined],
    [null],
    [5],
    [{ permissions: [] }],
    [{ permissions: { allow: "Bash" } }],
    [JSON.parse('{"__proto__": {"permissions": {"allow": ["Bash"]}}}')],
  ])("of another shape are none: %j", (settings) => {
    expect(summary(translateClaudePermissions(settings, "user"))).toEqual({ rules: [], leftOut: [] });
  });

  it("are never wider: a tool alone is that tool, and paths count for Edit only", () => {
    const allow = [
      "Edit",
      "Write(*)",
      "Write(a.txt)",
      "MultiEdit",
      "NotebookEdit",
      "Bash(mkdir new*:*)",
      "mcp__x__get_*",
      "constructor",
      "Bash(git\u00a0push:*)",
    ];
    const translation = translateClaudePermissions({ permissions: { allow, deny: ["mcp__*"] } }, "user");
    expect(summary(translation)).toEqual({
      rules: ["allow replace", "allow smart_edit", "allow write_file"],
      leftOut: [
        "allow Write(a.txt): Claude Code has paths for Edit only, so it allows nothing there",
        "allow MultiEdit: it names a tool that Parley does not have",
        "allow NotebookEdit: it names a tool that Parley does not have",
        'allow Bash(mkdir new*:*): "*" before ":*" is no pattern. Did you mean mkdir new* *?',
        "allow mcp__x__get_*: rules cannot name servers or their tools by a pattern",
        "allow constructor: it names a tool that Parley does not have",
        'allow Bash(git\u00a0push:*): "git\u00a0push" has quotes, variables or operators, whose meaning would be ambiguous',
        "deny mcp__*: rules cannot name servers or their tools by a pattern",
      ],
    });
  });
});

describe("rules of Codex", () => {
  it("are read up to what is not a literal call", () => {
    const text = `
# my rules
prefix_rule(pattern=["git", ["status", 'log']], match=["git status", ["git", "log"]], not_match=[])
prefix_rule(pattern=["a b"], decision="allow")
prefix_rule(pattern=[["x"], ["\\n"]], decision="allow")
prefix_rule(decision="allow")
prefix_rule(pattern=["y"], decision="maybe")
host_executable(name="git", paths=["/usr/bin/git"])
prefix_rule(pattern=["make"], decision="forbidden"); 
prefix_rule(pattern=["lost"], decision="allow")`;
    expect(summary(translateCodexRules(text))).toEqual({
      rules: [
        "allow run_shell_command(git status)",
        "allow run_shell_command(git log)",
        "deny run_shell_command(make)",
      ],
      leftOut: [
        'prefix_rule(pattern=["a b"], decision="allow"): a word of its pattern has spaces or *',
        'prefix_rule(pattern=[["x"], ["\\n"]], decision="allow"): a word of its pattern has spaces or *',
        'prefix_rule(decision="allow"): its pattern is not a list of words',
        'prefix_rule(pattern=["y"], decision="maybe"): its decision is not allow, prompt or forbidden',
        'host_executable(name="git", paths=["/usr/bin/git"]): host_executable has no counterpart here',
        "; : only calls with literal arguments are supported; this and what follows it is not read",
      ],
    });
  });

  it.each([
    ['prefix_rule(pattern=CMDS, decision="allow")'],
    ['prefix_rule(["git"], "allow")'],
    ['prefix_rule(pattern=["git" "x"])'],
    ['prefix_rule(pattern=["git"'],
    ['for x in ["a"]:\n  prefix_rule(pattern=[x])'],
    [`prefix_rule(pattern=${"[".repeat(5000)}`],
    ['prefix_rule(pattern=["a"], pattern=["b"])'],
    ['"\\'],
  ])("that are code are not guessed: %#", (text) => {
    const { rules, untranslated } = translateCodexRules(text);
    expect([rules, untranslated.length]).toEqual([[], 1]);
  });

  it("with too many alternatives are left out", () => {
    const many = JSON.stringify(Array.from({ length: 40 }, (_, at) => `w${at}`));
    expect(summary(translateCodexRules(`prefix_rule(pattern=[${many}, ${many}])`))).toMatchObject({ rules: [] });
  });
});

describe("policies of Gemini CLI", () => {
  it("become rules unless a condition or an exception limits them", () => {
    const rule = [
      { toolName: ["glob", "grep_search"], decision: "allow", priority: 5 },
      { toolName: "run_shell_command", commandPrefix: "git", decision: "allow", priority: 50 },
      { toolName: "run_shell_command", decision: "deny", priority: 10 },
      { toolName: "write_file", decision: "ask_user", priority: 10 },
      { toolName: "run_shell_command", commandRegex: "^git", decision: "allow", priority: 10 },
      { toolName: "replace", decision: "allow", modes: ["autoEdit"] },
      { mcpName: "github", decision: "deny" },
      { mcpName: "github", toolName: "*", decision: "ask_user" },
      { toolName: "*", decision: "allow" },
      { toolName: "x", decision: "perhaps" },
      { decision: "deny", priority: 99 },
    ];
    expect(summary(translateGeminiPolicies([{ rule }, 5, { rule: "x" }]))).toEqual({
      rules: [
        "allow glob",
        "allow search_file_content",
        "allow run_shell_command(git)",
        "ask write_file",
        "deny server:github",
        "ask server:github",
      ],
      leftOut: [
        'deny run_shell_command: "allow run_shell_command git" has a higher priority, and deny rules have no exceptions here; calls no rule allows are asked about',
        "allow run_shell_command: it depends on commandRegex, which rules cannot express here",
        "allow replace: it depends on modes, which rules cannot express here",
        "allow *: rules cannot name every tool",
        "perhaps x: its decision is not allow, deny or ask_user",
        "deny: it names no tool",
      ],
    });
  });
});

describe("the tool lists of Gemini CLI and Qwen Code", () => {
  it("become rules: core tools by denying the others", () => {
    const tools = {
      allowed: ["run_shell_command(git status)", "read_file", "replace", "write_file(a)", "run_shell_command(a|b)"],
      exclude: ["WebFetchTool", "run_shell_command(rm -rf)", "edit*"],
      confirmationRequired: ["replace"],
      core: ["ReadFileTool", "ShellTool(ls)", "replace", "write_file", "glob", "grep_search", "list_directory"],
    };
    const settings = { tools, mcp: { excluded: ["bad"] }, general: { defaultApprovalMode: "plan" } };
    expect(summary(translateToolSettings(settings))).toEqual({
      rules: [
        "allow run_shell_command(git status)",
        "allow read_file",
        "allow replace",
        "ask replace",
        "ask smart_edit",
        "deny web_fetch",
        "deny run_shell_command(rm -rf)",
        "deny server:bad",
        "deny read_many_files",
        "deny web_fetch",
        "deny google_web_search",
        "deny save_memory",
      ],
      leftOut: [
        "allow write_file(a): it has arguments, which count for run_shell_command only",
        'allow run_shell_command(a|b): "a|b" has quotes, variables or operators, whose meaning would be ambiguous',
        "deny edit*: rules cannot name tools by a pattern",
        "tools.core ShellTool(ls): nothing else runs there; see permissions.only",
      ],
      mode: "plan",
    });
  });

  it("of Qwen Code are beside rules in Claude Code's form", () => {
    const permissions = {
      allow: ["run_shell_command(npm test)", "Edit(/src/**)", "WebFetch(example.com)"],
      deny: ["ReadFile(.env)", "Bash(rm *)"],
    };
    expect(
      summary(translateQwenSettings({ permissions, tools: { approvalMode: "auto-edit", exclude: ["glob"] } })),
    ).toEqual({
      rules: [
        "allow Bash(npm test)",
        "allow Edit(./src/**)",
        "allow host:example.com",
        "deny Read(.env)",
        "deny run_shell_command(rm)",
        "deny glob",
      ],
      leftOut: [],
      mode: "auto_edit",
    });
  });
});

describe("the permissions of opencode", () => {
  it("become rules; the last match wins there, so exceptions are left out", () => {
    const permission = {
      edit: "ask",
      bash: { "*": "ask", "git status*": "allow", "git push": "deny", "rm ?": "deny", "ls *": "allow" },
      webfetch: "deny",
      external_directory: "deny",
      skill: { "*": "allow" },
      read: { "*": "allow", "*.env": "deny", "*.env.example": "allow" },
      doom_loop: 5,
    };
    expect(summary(translateOpencodePermissions({ permission }))).toEqual({
      rules: ["allow Bash(git status*)", "deny Bash(git push)", "allow run_shell_command(ls)", "deny web_fetch"],
      leftOut: [
        'ask bash: "git status*" after it is an exception, and ask rules have none here; calls no rule allows are asked about',
        "deny bash rm ?: ? in patterns is not supported",
        "deny external_directory: it has no counterpart here",
        "allow skill: it has no counterpart here",
        "allow read: reading in the workspace needs no rule",
        'deny read *.env: "*.env.example" after it is an exception, and deny rules have none here; calls no rule allows are asked about',
        "allow read *.env.example: reading in the workspace needs no rule",
        "doom_loop *: its value is not allow, ask or deny",
      ],
    });
  });
});
