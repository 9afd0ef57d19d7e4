import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Program } from "../../world/processes.ts";
import { realWorld } from "../../world/real/world.ts";
import { analyzeCmd, buildCmdProgram, decideCmd } from "./windows.ts";
import type { ApprovalMode } from "../gate/approval-mode.ts";
import { openPolicy } from "../open-policy.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "windows-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const system = "C:\\Windows\\System32\\cmd.exe";

describe("a command on Windows", () => {
  it("runs with cmd.exe /c, its text unchanged", () => {
    expect(buildCmdProgram('dir "a b" & echo %PATH%', { PATH: "C:\\bin" })).toEqual({
      file: system,
      args: ["/d", "/s", "/c", '"dir "a b" & echo %PATH%"'],
      env: { PATH: "C:\\bin", NoDefaultCurrentDirectoryInExePath: "1" },
      hasVerbatimArguments: true,
    });
  });

  it.each([
    ["the system's own", {}, system],
    ["the one ComSpec names, in any case", { COMSPEC: "D:\\Win\\system32\\cmd.exe" }, "D:\\Win\\system32\\cmd.exe"],
    ["the one below SystemRoot", { SystemRoot: "E:\\Windows" }, "E:\\Windows\\System32\\cmd.exe"],
    ["no other program that ComSpec names", { ComSpec: "C:\\work\\evil.exe" }, system],
    ["no cmd.exe of the current folder", { ComSpec: "cmd.exe", SystemRoot: "Windows" }, system],
  ])("runs with %s", (_, env, file) => {
    expect(buildCmdProgram("dir", env).file).toBe(file);
  });

  it.each(["echo 1\necho 2", "echo 1\recho 2"])("of more than one line is refused: %j", (text) => {
    expect(() => buildCmdProgram(text, {})).toThrow("cmd.exe runs one line");
  });
});

describe("the judge of commands on Windows", () => {
  const judge = (
    text: string,
    {
      allow = [],
      exact = [],
      deny = [],
      mode = "default",
    }: Partial<Record<"allow" | "exact" | "deny", string[]>> & {
      mode?: ApprovalMode;
    } = {},
  ) => {
    const words = (rules: readonly string[]) => rules.map((rule) => rule.split(" "));
    return decideCmd(analyzeCmd(text, "C:\\work"), {
      allow: words(allow),
      exact: words(exact),
      deny: words(deny),
      mode,
    }).decision;
  };

  it.each(["dir", "ls", "echo hello", "git status", "type a.txt", "cd .", "", "rem nothing"])(
    "asks about %j",
    (text) => {
      expect(judge(text)).toBe("ask");
    },
  );

  it.each([
    ["npm test", "npm test", "allow"],
    ["npm test ", "npm test", "ask"],
    ["npm  test", "npm test", "ask"],
    ["npm test & del x", "npm test", "ask"],
    ["npm test -- -u", "npm test", "ask"],
    ["NPM test", "npm test", "ask"],
    ["npm", "npm test", "ask"],
  ])("decides about %j under the rule %j: %s", (text, rule, decision) => {
    expect(judge(text, { allow: [rule] })).toBe(decision);
    expect(judge(text, { exact: [rule] })).toBe(decision);
  });

  it.each(["del x", "dir & del x", "d^el x", "DEL x", "C:\\tools\\del.exe x", '"C:\\tools\\del.bat" x', "dir&del x"])(
    "denies %j where a rule denies del, in every mode",
    (text) => {
      for (const mode of ["default", "yolo", "auto_edit", "plan"] as const)
        expect([mode, judge(text, { deny: ["del"], mode, allow: [text] })]).toEqual([mode, "deny"]);
    },
  );

  it("asks in yolo mode if a deny rule exists, since a variable may contain the program", () => {
    expect(judge("%X% x", { deny: ["del"], mode: "yolo" })).toBe("ask");
    expect(judge("%X% x", { mode: "yolo" })).toBe("allow");
  });

  it("runs nothing in plan mode", () => {
    expect(judge("dir", { mode: "plan", allow: ["dir"] })).toBe("deny");
  });

  it("suggests only rules that can be parsed", () => {
    expect(analyzeCmd("npm run build", "C:\\work").suggestedRules).toEqual([["npm", "run", "build"]]);
    for (const text of ["npm  test", "npm test & dir", 'echo "a"', "echo > x", " dir"])
      expect(analyzeCmd(text, "C:\\work").suggestedRules).toEqual([]);
  });
});

describe("a session", () => {
  const programOn = async (platform: string) => {
    const world = realWorld({ PATH: process.env["PATH"] ?? "" });
    const programs: Program[] = [];
    const start = (program: Program): never => {
      programs.push(program);
      throw new Error("It is not to run.");
    };
    const policy = await openPolicy({
      world: { ...world, host: { ...world.host, platform }, processes: { ...world.processes, start } },
      roots: [base],
      home: join(base, ".parley"),
      mode: "default",
      interactive: true,
      trusted: true,
    });
    const command = { text: "echo hello", folder: base };
    const verdict = await policy.gate.judge({
      tool: "run_shell_command",
      access: "execute",
      touches: { reads: [], writes: [], urls: [], command },
    });
    const running = policy.shell.run({ ...command, signal: new AbortController().signal, report: () => undefined });
    await expect(running).rejects.toThrow("could not be started");
    await policy.close();
    return [verdict.decision, programs[0]?.file.split(/[/\\]/).at(-1), programs[0]?.args.at(-1)];
  };

  it("asks about every command on Windows and runs it with cmd.exe", async () => {
    expect(await programOn("win32")).toEqual(["ask", "cmd.exe", '"echo hello"']);
  });

  it("runs read-only commands without asking elsewhere, with bash", async () => {
    expect(await programOn("linux")).toEqual(["allow", "bash", "echo hello"]);
  });
});
