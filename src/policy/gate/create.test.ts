import { describe, expect, it } from "vitest";
import { createPermissionGate, type PermissionGateOptions, type PermissionVerdict } from "./create.ts";
import type { CommandRules } from "../command/decide.ts";
import type { GateRequest, JudgedCommand } from "./request.ts";
import { approvalModes, chooseInitialMode, stricterMode, type ApprovalMode } from "./approval-mode.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import { checkProtection } from "../workspace/protected-paths.ts";
import { parsePermissionRule, type PermissionRule } from "./permission-rules.ts";
import { fc } from "../../../test/support/fast-check.ts";

const root = "/site";
const at = (shown: string) => ({ path: `${root}/${shown}`, shown });
const nothing = { reads: [], writes: [], urls: [] };

const read: GateRequest = { tool: "read_file", access: "read", touches: { ...nothing, reads: [at("a.ts")] } };
const write: GateRequest = { tool: "write_file", access: "write", touches: { ...nothing, writes: [at("a.ts")] } };
const odd: GateRequest = { ...write, touches: { ...nothing, writes: [at(".envrc")] } };
const hooks: GateRequest = { ...write, touches: { ...nothing, writes: [at(".git/hooks/pre-commit")] } };
const memory: GateRequest = { tool: "save_memory", access: "write", touches: nothing };
const search: GateRequest = { tool: "google_web_search", access: "network", touches: nothing };
const mcp: GateRequest = { tool: "github__list", access: "read", server: "github", touches: nothing };
const remoteTask: GateRequest = {
  tool: "task",
  access: "read",
  touches: nothing,
  agent: { name: "helper", url: "http://127.0.0.1:1/card", identity: "file 1", variables: [], prompt: "hello" },
};
/** As a file of a project defines it, which names a variable of the environment. */
const projectTask: GateRequest = { ...remoteTask, agent: { ...remoteTask.agent!, variables: ["TOKEN"] } };
const run = (text: string): GateRequest => ({
  tool: "run_shell_command",
  access: "execute",
  touches: { ...nothing, command: { text, folder: root } },
});
const fetch = (...urls: readonly string[]): GateRequest => ({
  tool: "web_fetch",
  access: "network",
  touches: { ...nothing, urls },
});

/** A judge of commands for these tests: plain words, by their first two; `rm -rf /` never runs, `guard` writes what is protected. */
const judgeCommand = async (
  { text }: { readonly text: string },
  { allow, deny, mode, isAllowListOnly }: CommandRules,
): Promise<JudgedCommand> => {
  const words = text.split(" ");
  const begins = (prefix: readonly string[]): boolean => prefix.every((word, index) => words[index] === word);
  const isPlain = !text.includes("$(");
  const analysis: JudgedCommand["analysis"] = {
    programs: [{ name: words[0] ?? "", binary: { kind: "file", path: `/usr/bin/${words[0]}` } }],
    suggestedRules: isPlain ? [words.slice(0, 2)] : [],
    readsOutside: false,
    mayRunUnseen: false,
    writes: text === "guard" ? [{ path: "/site/.envrc", place: "protected", reason: "Programs read it." }] : [],
  };
  if (text === "rm -rf /") return { decision: "deny", reason: "It destroys the machine.", analysis };
  if (deny.some(begins)) return { decision: "deny", reason: "A rule denies it.", analysis };
  if (words[0] === "ls" && isAllowListOnly !== true) return { decision: "allow", reason: "It only reads.", analysis };
  if (mode === "plan") return { decision: "deny", reason: "Plan mode only reads.", analysis };
  if (mode === "yolo" || (isPlain && allow.some(begins))) return { decision: "allow", reason: "", analysis };
  return { decision: "ask", reason: `${words[0]} runs a program.`, analysis };
};

const judgeUrl = (url: string): UrlJudgement => {
  const { hostname: host } = new URL(url);
  if (host === "127.0.0.1") return { url, host, decision: "deny", reason: "It is not a public address." };
  if (url.includes("SECRET")) return { url, host, decision: "ask", reason: "It may carry a secret away." };
  return { url, host, decision: "allow", reason: "" };
};

const gate = (options: Partial<PermissionGateOptions> = {}) =>
  createPermissionGate({
    mode: "default",
    rules: {},
    trusted: true,
    interactive: true,
    protection: (path) => checkProtection(path, { roots: [root], ownFolders: ["/home/someone/.parley"] }),
    judgeCommand,
    judgeUrl,
    ...options,
  });

const rules = (...texts: readonly string[]): readonly PermissionRule[] =>
  texts.flatMap((text) => parsePermissionRule(text) ?? []);
const allow = (...texts: readonly string[]) => ({ settings: { allow: rules(...texts) } });
const deny = (...texts: readonly string[]) => ({ settings: { deny: rules(...texts) } });
const decide = async (
  request: GateRequest,
  options: Partial<PermissionGateOptions> = {},
): Promise<PermissionVerdict["decision"]> => (await gate(options).judge(request)).decision;

describe("the approval modes", () => {
  const rows: readonly (readonly [what: string, request: GateRequest, decisions: string])[] = [
    // in plan, default, auto_edit and yolo mode
    ["reads in the workspace", read, "allow allow allow allow"],
    ["edits in the workspace", write, "deny ask allow allow"],
    ["edits of what other programs run", odd, "deny ask ask ask"],
    ["edits of what governs the agent", hooks, "deny deny deny deny"],
    ["what it remembers", memory, "deny ask ask allow"],
    ["a command", run("npm test"), "deny ask ask allow"],
    ["a command that only reads", run("ls"), "allow allow allow allow"],
    ["a command that writes what other programs run", run("guard"), "deny ask ask ask"],
    ["a command no mode runs", run("rm -rf /"), "deny deny deny deny"],
    ["an address", fetch("https://docs.test/"), "deny ask ask allow"],
    ["an address on this machine", fetch("http://127.0.0.1/"), "deny deny deny deny"],
    ["an odd address", fetch("https://docs.test/?SECRET"), "deny ask ask allow"],
    ["a command with letters that pass for others", run("ls p\u0430ypal.txt"), "ask ask ask allow"],
    ["a command in another alphabet", run("ls \u043f\u0440\u0438\u0432\u0435\u0442"), "allow allow allow allow"],
    ["a search", search, "deny ask ask allow"],
    ["a server's tool, whatever it says of itself", mcp, "deny ask ask allow"],
  ];
  it.each(rows)("decide about %s", async (_, request, decisions) => {
    const found = await Promise.all(approvalModes.map((mode) => decide(request, { mode })));
    expect(found.join(" ")).toBe(decisions);
  });

  it("can be changed during the session", async () => {
    const one = gate();
    one.setMode("yolo");
    expect([one.mode(), (await one.judge(write)).decision]).toEqual(["yolo", "allow"]);
  });

  it.each([["deny"], ["Plan"], [""], [undefined], [{}]])("reject an unknown mode: %j", (mode) => {
    const one = gate({ mode: "plan" });
    expect(() => one.setMode(mode as never)).toThrow("Unknown approval mode");
    expect(one.mode()).toBe("plan");
  });

  it("stay read-only in plan mode, whatever rules allow", async () => {
    const allowed = allow("run_shell_command", "write_file", "server:github");
    const found = await Promise.all(
      [run("npm test"), write, mcp].map((each) => decide(each, { mode: "plan", rules: allowed })),
    );
    expect(found).toEqual(["deny", "deny", "deny"]);
  });

  it("explain to the model why plan mode does not run a call", async () => {
    expect((await gate({ mode: "plan" }).judge(write)).reason).toBe(
      "Plan mode is read-only: write_file was not run. Read what you need, then present your plan (present_plan); the user decides when to leave plan mode.",
    );
  });
});

describe("in a session that is not interactive", () => {
  const rows: readonly (readonly [what: string, request: GateRequest, reason: string])[] = [
    ["an edit", write, "--approval-mode auto_edit or --approval-mode yolo"],
    ["a protected edit", odd, "--allowed-tools 'path:.envrc'"],
    ["a command", run("npm test"), "--allowed-tools 'run_shell_command(npm test)' or --approval-mode yolo"],
    ["a command that cannot be read for sure", run("npm $(x)"), "--approval-mode yolo"],
    ["an address", fetch("https://docs.test/"), "--allowed-tools 'web_fetch' or --approval-mode yolo"],
    ["a server's tool", mcp, "--allowed-tools 'server:github' or --approval-mode yolo"],
  ];
  it.each(rows)("%s is denied, and the reason names the options that would allow it", async (_, request, options) => {
    const { decision, reason } = await gate({ interactive: false }).judge(request);
    expect([decision, reason.endsWith(` To allow it, start with ${options}.`)]).toEqual(["deny", true]);
  });

  it("calls that a rule or the mode allows still run", async () => {
    const headless = { interactive: false };
    expect(await decide(run("npm test"), { ...headless, rules: allow("run_shell_command(npm test)") })).toBe("allow");
    expect(await decide(write, { ...headless, mode: "auto_edit" })).toBe("allow");
    expect(await decide(run("npm test"), { ...headless, mode: "yolo" })).toBe("allow");
    expect(await decide(odd, { ...headless, mode: "yolo" })).toBe("deny");
    expect(await decide(odd, { ...headless, mode: "yolo", rules: allow("path:.envrc") })).toBe("allow");
  });
});

describe("rules", () => {
  const rows: readonly (readonly [rule: string, request: GateRequest, decision: PermissionVerdict["decision"]])[] = [
    ["write_file", write, "allow"],
    ["write_file", odd, "ask"],
    ["write_file", hooks, "deny"],
    ["replace", write, "ask"],
    ["path:a.ts", write, "allow"],
    ["path:b.ts", write, "ask"],
    ["path:.envrc", odd, "allow"],
    ["path:.git", hooks, "deny"],
    ["run_shell_command(npm test)", run("npm test"), "allow"],
    ["run_shell_command(npm test)", run("npm install"), "ask"],
    ["run_shell_command", run("anything at all"), "allow"],
    ["run_shell_command", run("rm -rf /"), "deny"],
    ["run_shell_command", run("guard"), "ask"],
    ["run_shell_command(guard)", run("guard"), "ask"],
    ["server:github", mcp, "allow"],
    ["server:git", mcp, "ask"],
    ["github__list", mcp, "allow"],
    ["host:docs.test", fetch("https://docs.test/guide"), "allow"],
    ["host:docs.test", fetch("https://docs.test/guide", "https://other.test/"), "ask"],
    ["host:docs.test", fetch("https://docs.test.evil.test/"), "ask"],
    ["host:docs.test", fetch("https://evildocs.test/"), "ask"],
    ["host:docs.test", fetch("http://evil.test\\@docs.test/"), "ask"],
    ["host:docs.test", fetch("https://user:secret@docs.test/"), "ask"],
    ["host:docs.test", fetch("https://docs.test:8443/"), "ask"],
    ["host:docs.test", fetch("https://docs.test/user-writable?d=x"), "ask"],
    ["host:docs.test", fetch("https://docs.test./guide"), "allow"],
    ["host:docs.test/guide", fetch("https://docs.test/guide/one"), "allow"],
    ["host:docs.test/guide", fetch("https://docs.test/guidebook"), "ask"],
    ["host:docs.test/guide", fetch("https://docs.test/guide/../private"), "ask"],
    ["host:docs.test/guide", fetch("https://docs.test/guide/%2e%2e/private"), "ask"],
    ["host:*.docs.test", fetch("https://a.docs.test/"), "allow"],
    ["host:*.docs.test", fetch("https://docs.test/"), "ask"],
    ["host:bücher.test", fetch("https://xn--bcher-kva.test/"), "allow"],
    ["web_fetch", fetch("https://docs.test/?q=x"), "allow"],
    ["web_fetch", fetch("https://docs.test/?SECRET"), "ask"],
    ["web_fetch", fetch("http://127.0.0.1/"), "deny"],
  ];
  it.each(rows)("allowing %s", async (rule, request, decision) => {
    expect(await decide(request, { rules: allow(rule) })).toBe(decision);
  });

  const denials: readonly (readonly [rule: string, request: GateRequest, decision: PermissionVerdict["decision"]])[] = [
    ["write_file", write, "deny"],
    ["read_file", read, "deny"],
    ["path:a.ts", read, "deny"],
    ["path:b.ts", read, "allow"],
    ["server:github", mcp, "deny"],
    ["run_shell_command(npm)", run("npm test"), "deny"],
    ["host:docs.test", fetch("https://a.docs.test/?q"), "deny"],
    ["host:docs.test", fetch("https://DOCS.test./"), "deny"],
    ["host:docs.test", fetch("https://other.test/"), "allow"],
  ];
  it.each(denials)("denying %s, even in yolo mode", async (rule, request, decision) => {
    expect(await decide(request, { mode: "yolo", rules: deny(rule) })).toBe(decision);
  });

  it("deny a call that another rule allows", async () => {
    const both = { settings: { allow: rules("write_file"), deny: rules("write_file") } };
    expect(await decide(write, { rules: both })).toBe("deny");
  });

  it("can be an exclusive allow list, also in yolo mode and without a terminal", async () => {
    const only = { commandLine: { only: rules("read_file", "run_shell_command(echo)", "host:docs.test") } };
    const requests = [
      read,
      write,
      run("echo x"),
      run("npm test"),
      fetch("https://docs.test/a"),
      fetch("https://x.test/"),
    ];
    const found = await Promise.all(
      requests.map((request) => decide(request, { mode: "yolo", interactive: false, rules: only })),
    );
    expect(found).toEqual(["allow", "deny", "allow", "deny", "allow", "deny"]);
  });

  it.each([
    "",
    "rm -rf x",
    "run_shell_command(git $(x))",
    "host:",
    "host:a@b",
    "host:a:80",
    "path:../x",
    "path:",
    "a b",
  ])("are rejected if they are ambiguous: %s", (text) => expect(parsePermissionRule(text)).toBeUndefined());
});

describe("in a folder that is not trusted", () => {
  it("the user's settings allow nothing, and the command line still does", async () => {
    const request = run("npm test");
    const rule = { allow: rules("run_shell_command(npm test)") };
    expect(await decide(request, { trusted: false, rules: { settings: rule } })).toBe("ask");
    expect(await decide(request, { trusted: false, rules: { commandLine: rule } })).toBe("allow");
    expect(await decide(request, { trusted: false, mode: "yolo" })).toBe("allow");
    expect(await decide(hooks, { trusted: false, mode: "yolo" })).toBe("deny");
  });

  it("deny rules of the user still apply", async () => {
    expect(await decide(write, { trusted: false, mode: "yolo", rules: deny("write_file") })).toBe("deny");
  });

  it.each<[Parameters<typeof chooseInitialMode>[0], ApprovalMode]>([
    [{ trusted: true }, "default"],
    [{ trusted: true, settings: "yolo" }, "yolo"],
    [{ trusted: false, settings: "yolo" }, "default"],
    [{ trusted: false, settings: "plan" }, "plan"],
    [{ trusted: false, settings: "plan", commandLine: "yolo" }, "yolo"],
    [{ trusted: true, settings: "yolo", project: "plan" }, "plan"],
    [{ trusted: true, settings: "plan", project: "default" }, "plan"],
    [{ trusted: false, settings: "default", project: "plan" }, "default"],
    [{ trusted: true, commandLine: "yolo", project: "plan" }, "yolo"],
  ])("a session with %o starts in %s mode", (sources, mode) => expect(chooseInitialMode(sources)).toBe(mode));
});

describe("an always-allow answer", () => {
  const scopes = ["session"] as const;

  it.each<[string, GateRequest, PermissionVerdict["details"]["always"]]>([
    ["an edit", write, [{ type: "edits", scopes }]],
    ["a command", run("npm test"), [{ type: "command", commands: [["npm", "test"]], scopes }]],
    [
      "a server's tool",
      mcp,
      [
        { type: "tool", tool: "github__list", scopes },
        { type: "server", server: "github", scopes },
      ],
    ],
    ["an address", fetch("https://docs.test/"), [{ type: "tool", tool: "web_fetch", scopes }]],
    ["a command that cannot be read for sure", run("npm $(x)"), []],
    ["a protected edit", odd, []],
    ["an odd address", fetch("https://docs.test/?SECRET"), []],
  ])("is offered if it would avoid the next question: %s", async (_, request, always) => {
    expect((await gate().judge(request)).details.always).toEqual(always);
  });

  it("holds for the lifetime of the gate, and for nothing else", async () => {
    const one = gate();
    await one.remember({ type: "command", commands: [["npm", "run"], ["make"]], scopes }, "session");
    await one.remember({ type: "server", server: "github", scopes }, "session");
    await one.remember({ type: "tool", tool: "write_file", scopes }, "session");
    const found = await Promise.all(
      [run("npm run x"), run("npm test"), mcp, write, odd, memory].map((each) => one.judge(each)),
    );
    expect(found.map(({ decision }) => decision)).toEqual(["allow", "ask", "allow", "allow", "ask", "ask"]);
  });

  const seen = { server: "s1", tool: "t1" };
  it.each<[string, { server: string; tool: string }, number, string]>([
    ["a tool as it was seen", seen, 0, "allow"],
    ["a tool whose words changed", { server: "s2", tool: "t2" }, 0, "ask"],
    ["a tool that stays while its neighbours change", { server: "s2", tool: "t1" }, 0, "allow"],
    ["a server as it was seen", { server: "s1", tool: "t3" }, 1, "allow"],
    ["a server started in another way, or offering other tools", { server: "s2", tool: "t1" }, 1, "ask"],
  ])("for a server's tool holds only for what the user was shown: %s", async (_, identity, scope, decision) => {
    const one = gate();
    const { always } = (await one.judge({ ...mcp, identity: seen })).details;
    expect(always).toEqual([
      { type: "tool", tool: "github__list", identity: "t1", scopes },
      { type: "server", server: "github", identity: "s1", scopes },
    ]);
    await one.remember(always[scope]!, "session");
    expect((await one.judge({ ...mcp, identity })).decision).toBe(decision);
    expect((await one.judge(mcp)).decision).toBe("ask");
  });
});

describe("a project", () => {
  const requests = fc.constantFrom(
    read,
    write,
    odd,
    hooks,
    memory,
    search,
    mcp,
    run("npm test"),
    fetch("https://docs.test/"),
  );
  const rule = fc.constantFrom(
    ...rules("write_file", "read_file", "server:github", "host:docs.test", "path:a.ts", "run_shell_command(npm)"),
  );
  const strictness = { allow: 0, ask: 1, deny: 2 };

  it("can only restrict: with its rules no decision is looser than without", async () => {
    await fc.assert(
      fc.asyncProperty(
        requests,
        fc.constantFrom(...approvalModes),
        fc.array(rule),
        fc.array(rule),
        fc.array(rule),
        fc.boolean(),
        async (request, mode, allowed, denied, project, trusted) => {
          const settings = { allow: allowed, deny: denied };
          const without = await decide(request, { mode, trusted, rules: { settings } });
          const withIt = await decide(request, { mode, trusted, rules: { settings, project } });
          expect(strictness[withIt]).toBeGreaterThanOrEqual(strictness[without]);
          if (!trusted) expect(withIt).toBe(without);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("never loosens a mode", () => {
    for (const mode of approvalModes)
      for (const project of approvalModes)
        expect(stricterMode(chooseInitialMode({ settings: mode, project, trusted: true }), mode)).toBe(
          chooseInitialMode({ settings: mode, project, trusted: true }),
        );
  });
});

describe("a task for a remote agent", () => {
  const decide = async (request: GateRequest, options: Partial<PermissionGateOptions> = {}): Promise<string> =>
    (await gate(options).judge(request)).decision;

  it.each<readonly [string, GateRequest, Partial<PermissionGateOptions>, string]>([
    ["is asked about", remoteTask, {}, "ask"],
    ["runs in yolo mode", remoteTask, { mode: "yolo" }, "allow"],
    ["is asked about in yolo mode if a project sends a variable", projectTask, { mode: "yolo" }, "ask"],
    ["is refused in plan mode", remoteTask, { mode: "plan" }, "deny"],
    ["is allowed by its name", projectTask, { rules: { settings: { allow: rules("agent:helper") } } }, "allow"],
    ["is not allowed by another name", remoteTask, { rules: { settings: { allow: rules("agent:other") } } }, "ask"],
    [
      "is not allowed by the tool that starts subagents",
      remoteTask,
      { rules: { settings: { allow: rules("task") } } },
      "ask",
    ],
    [
      "is denied by its name",
      remoteTask,
      { mode: "yolo", rules: { settings: { deny: rules("agent:helper") } } },
      "deny",
    ],
    [
      "is denied by its host",
      remoteTask,
      { mode: "yolo", rules: { settings: { deny: rules("host:127.0.0.1") } } },
      "deny",
    ],
    ["is denied beside an exclusive list", remoteTask, { rules: { settings: { only: rules("task") } } }, "deny"],
  ])("%s", async (_, request, options, decision) => {
    expect(await decide(request, options)).toBe(decision);
  });

  it("is allowed by an answer as long as its file is the same", async () => {
    const open = gate();
    const { details } = await open.judge(remoteTask);
    await open.remember(details.always[0]!, "session");
    const changed = { ...remoteTask, agent: { ...remoteTask.agent!, identity: "file 2" } };
    expect([(await open.judge(remoteTask)).decision, (await open.judge(changed)).decision]).toEqual(["allow", "ask"]);
  });
});
