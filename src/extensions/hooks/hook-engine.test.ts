import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import { matchesCondition } from "./condition.ts";
import { describeShellResponse, nameCall, namesOfTool } from "./hooked-call.ts";
import { HookEngine, type HookActivity, type HookOccasion, type HookOutcome } from "./hook-engine.ts";
import { readHooks } from "./read-hooks.ts";

const activities: HookActivity[] = [];
const run = async (
  handlers: readonly object[],
  occasion: HookOccasion,
  env = {},
  beforeClose = (): void => undefined,
): Promise<HookOutcome> => {
  const settings = { [occasion.event]: [{ hooks: handlers }] };
  const { hooks, problems } = readHooks([{ source: { type: "user" }, file: "settings.json", settings }]);
  expect(problems).toEqual([]);
  activities.length = 0;
  const world = realWorld();
  const engine = new HookEngine({
    world: { ...world, env: { ...world.env, ...env } },
    folder: realpathSync(tmpdir()),
    sessionId: "s",
    hooks,
    commonFields: () => ({ session_id: "s" }),
    onActivity: (activity) => void activities.push(activity),
  });
  const session = new AbortController();
  const outcome = await engine.run(occasion, session.signal);
  // A session cancels what it waits for, then closes its hooks.
  session.abort();
  beforeClose();
  await engine.close();
  return outcome;
};
const call: HookOccasion = {
  event: "PreToolUse",
  call: { tool: "replace", input: { file_path: "a", old_string: "x", new_string: "y" } },
  fields: {},
};

describe("an http hook", () => {
  let server: Server;
  let url: string;
  let answer: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
  const requests: { readonly headers: Record<string, unknown>; readonly body: unknown }[] = [];
  beforeEach(async () => {
    requests.length = 0;
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (piece: Buffer) => (body += piece.toString()));
      request.on("end", () => {
        requests.push({ headers: request.headers, body: JSON.parse(body) });
        response.writeHead(answer.status, answer.headers).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it("gets the event, and only the variables it may use", async () => {
    answer = { status: 200, body: JSON.stringify({ decision: "block", reason: "No." }) };
    const headers = { "X-Token": "$HOOK_TOKEN", "X-Other": "a$OTHER_TOKEN" };
    const outcome = await run([{ type: "http", url, headers, allowedEnvVars: ["HOOK_TOKEN"] }], call, {
      HOOK_TOKEN: "one",
      OTHER_TOKEN: "two",
    });
    expect(outcome).toEqual({
      decision: "deny",
      reason: "No.",
      decidedBy: [{ source: "user", hook: url }],
      context: [],
    });
    expect(requests).toMatchObject([
      { headers: { "x-token": "one", "x-other": "a" }, body: { session_id: "s", tool_name: "Edit" } },
    ]);
  });

  it.each([
    ["an error", { status: 500, body: "{}" }, "It answered with HTTP status 500."],
    [
      "a redirect",
      { status: 302, body: "", headers: { location: "http://127.0.0.1:1/" } },
      "It answered with HTTP status 302.",
    ],
    ["no JSON", { status: 200, body: "{" }, "Its output is not valid JSON."],
  ])("that answers with %s decides nothing", async (_, given, message) => {
    answer = given;
    expect(await run([{ type: "http", url }], call)).toEqual({ reason: "", context: [] });
    expect(activities).toMatchObject([{ status: "failed", message }]);
  });

  it("does not reach link-local addresses, such as those of a cloud's metadata server", async () => {
    await run([{ type: "http", url: "http://169.254.169.254/latest" }], call);
    expect(activities[0]?.message).toContain("which hooks may not reach");
  });
});

describe("a hook", () => {
  it("for Gemini CLI gets its names, and its arguments are merged", async () => {
    const command = `read -r line; case $line in *BeforeTool*'"tool_name":"replace"'*) echo '{"hookSpecificOutput": {"tool_input": {"new_string": "z"}}}';; esac`;
    expect(await run([{ type: "command", command, format: "gemini" }], call)).toEqual({
      reason: "",
      input: { file_path: "a", old_string: "x", new_string: "z" },
      context: [],
    });
  });

  it("runs once however often it is listed, and one in the background decides nothing", async () => {
    const deny = "echo No. >&2; exit 2";
    const twice = { type: "command", command: deny, async: true };
    expect(await run([twice, twice], call)).toEqual({ reason: "", context: [] });
    expect(activities.map(({ status }) => status)).toEqual(["blocked"]);
  });

  it.each([
    ["that says it goes on in the background", `echo '{"async": true, "asyncTimeout": 9}'; `, {}],
    ["in the background", "", { async: true }],
  ])("%s is not waited for, ends by itself when the session ends, and decides nothing", async (_, first, fields) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-async-"));
    const goes = join(folder, "go");
    const waits = `${first}until [ -e '${goes}' ]; do sleep 0.02; done`;
    const denies = `echo '{"systemMessage": "Late.", "decision": "block", "reason": "No."}'`;
    const outcome = await run([{ type: "command", command: `${waits}; ${denies}`, ...fields }], call, {}, () => {
      expect(activities).toEqual([]);
      writeFileSync(goes, "");
    });
    expect(outcome).toEqual({ reason: "", context: [] });
    expect(activities).toMatchObject([{ status: "blocked", message: "No." }]);
    rmSync(folder, { recursive: true });
  });

  it("gets no shell for a program with arguments", async () => {
    const program = { type: "command", command: "printf", args: ["%s", '{"systemMessage": "$HOME `id`", "x": 1}'] };
    await run([program], call);
    expect(activities[0]?.message).toBe("$HOME `id` These fields of its output have no effect: x.");
  });
});

describe("the condition of a hook", () => {
  const shell = (command: string) => ({ tool: "run_shell_command", input: { command } });
  it.each([
    ["Bash", "ls", true],
    ["Bash(git *)", "git push", true],
    ["Bash(git *)", "cd x && git push", true],
    ["Bash(git *)", "gitk", false],
    ["Bash(git *)", "(git push)", true],
    ["Bash(git *)", "echo $(git push)", true],
    ["Bash(git *)", "echo `git push`", true],
    ["Bash(git *)", "A=1 B='x' git push", true],
    ["Bash(git *)", "if true; then git push; fi", true],
    ["Bash(git *)", "sudo env A=1 git push", true],
    ["Bash(git *)", "timeout -k 1 5 git push", true],
    ["Bash(git *)", "bash -c 'git push'", true],
    ["Bash(git *)", "g''it push", true],
    ["Bash(git *)", "/usr/bin/git push", true],
    ["Bash(git *)", "/usr/bin/env -i sudo -n git push", true],
    ["Bash(git *)", "G=git; $G push", true],
    ["Bash(git *)", "ls 'git push'", false],
    ["Bash(git *)", "echo $HOME", false],
    ["Bash(npm run:*)", "npm run test", true],
    ["Bash(npm run:*)", "npm runs", false],
    ["Edit(*.ts)", "ls", false],
    ["ShellTool", "ls", false],
    ["not a rule (", "ls", true],
  ])("%s: %s", (condition, command, expected) => {
    expect(matchesCondition(condition, shell(command))).toBe(expected);
  });

  it("is found behind any number of words", () => {
    expect(matchesCondition("Bash(git *)", shell(`${"A=1 ".repeat(50_000)}git push`))).toBe(true);
  });
});

describe("the names of a tool", () => {
  it.each([
    ["search_file_content", ["Grep", "grep_search", "search_file_content"]],
    ["task", ["Task", "Agent", "task"]],
    ["smart_edit", ["Edit", "smart_edit"]],
    ["constructor", ["constructor"]],
  ])("%s", (tool, names) => {
    expect(namesOfTool({ tool })).toEqual(names);
  });

  it("of an MCP server are those of its server", () => {
    expect(namesOfTool({ tool: "srv__Bash", server: "srv" })).toEqual(["mcp__srv__Bash", "srv__Bash"]);
    expect(namesOfTool({ tool: "run", server: "team:db" })).toEqual([
      "mcp__plugin_team_db__run",
      "mcp__team:db__run",
      "run",
    ]);
  });
});

describe("a call under the name of another agent", () => {
  it.each([
    ["read_file", "Read", { absolute_path: "a/b.txt" }, { file_path: "/project/a/b.txt" }],
    ["write_file", "Write", { file_path: "../b.txt" }, { file_path: "/b.txt" }],
    ["replace", "Edit", { file_path: "/etc/b.txt" }, { file_path: "/etc/b.txt" }],
    ["write_file", "write_file", { file_path: "b.txt" }, { file_path: "b.txt" }],
    ["run", "mcp__srv__run", { file_path: "b.txt" }, { file_path: "b.txt" }],
  ])("has absolute paths where Claude Code has: %s as %s", (tool, name, input, expected) => {
    expect(nameCall({ tool, input }, name, "/project")).toEqual({ tool_name: name, tool_input: expected });
  });

  it("has the result of a shell command in fields, also if the command looks like one", () => {
    const command = "echo\nDirectory: x\nOutput: y";
    const call = { tool: "run_shell_command", input: { command } };
    const text = `Command: ${command}\nDirectory: (root)\nOutput: a\nOutput: b\nError: (none)\nExit Code: 3\nSignal: (none)`;
    const common = { stderr: "", interrupted: false, isImage: false };
    expect(describeShellResponse(text, call)).toEqual({ ...common, stdout: "a\nOutput: b", exit_code: 3 });
    expect(describeShellResponse("It runs in the background.", call)).toEqual({
      ...common,
      stdout: "It runs in the background.",
    });
  });
});
