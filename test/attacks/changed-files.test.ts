import { execFileSync, spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parsePermissionRule, type PermissionRule } from "../../src/policy/gate/permission-rules.ts";
import { call } from "../../src/scheduler/harness.cases.ts";
import { openAttackFixture, type AttackSession, type AttackFixture, type AttackOptions } from "./fixture.ts";
import { itInAll, sampleCases } from "../support/tier.ts";

/* A rule for a command, after the agent changed a file the command executes. */

let fixture: AttackFixture;

beforeEach(() => {
  fixture = openAttackFixture();
  fixture.put("package.json", '{"scripts":{"test":"true"}}');
  fixture.put("Makefile", "all:\n\ttrue\n");
  fixture.put("scripts/x.sh", "true\n");
  fixture.put("scripts/x.js", "1;\n");
  fixture.put("scripts/x.py", "1\n");
  fixture.put("other.txt", "other\n");
  fixture.link("run.sh", "scripts/x.sh");
});

afterEach(() => fixture.close());

/** Whether a program is installed. Rows for others are skipped: a rule covers no program that is not found. */
const isThere = (name: string): boolean => spawnSync("which", [name]).status === 0;

const open = (rules: readonly string[], options: AttackOptions = {}): Promise<AttackSession> =>
  fixture.open({
    mode: "auto_edit",
    rules: {
      commandLine: {
        allow: rules
          .map((rule) => parsePermissionRule(`run_shell_command(${rule})`))
          .filter((rule): rule is PermissionRule => rule !== undefined),
      },
    },
    ...options,
  });

const write = (session: AttackSession, file_path: string, content: string) =>
  session.call("write_file", { file_path, content });
const run = (session: AttackSession, command: string) => session.call("run_shell_command", { command });

const changed = '{"scripts":{"test":"echo changed"}}';

describe("a rule for a command whose files the agent changed", () => {
  const rows = [
    ["npm test", "package.json", changed],
    ["npm test --silent", "package.json", changed],
    ["node --run test", "package.json", changed],
    ["make", "Makefile", "all:\n\techo changed\n"],
    ["make all", "GNUmakefile", "all:\n\techo changed\n"],
    ["sh scripts/x.sh", "scripts/x.sh", "echo changed\n"],
    ["sh run.sh", "scripts/x.sh", "echo changed\n"],
    ["node scripts/x.js", "scripts/x.js", "2;\n"],
    ["node scripts/x", "scripts/x.js", "2;\n"],
    ["node --import ./scripts/x.js -e 1", "scripts/x.js", "2;\n"],
    ["python3 scripts/x.py", "scripts/x.py", "2\n"],
    ["python3 -m scripts.x", "scripts/x.py", "2\n"],
    ["python3 -m pytest", "pyproject.toml", "[tool.pytest]\n"],
    ["timeout 20 sh scripts/x.sh", "scripts/x.sh", "echo changed\n"],
  ] as const;
  it.each(
    sampleCases(
      rows.filter(([command]) => isThere(command.split(" ")[0] ?? "")),
      3,
    ),
  )("is asked about: %s after a change to %s", async (command, path, text) => {
    const session = await open([command]);
    expect((await run(session, command)).verdict).toBe("allow");
    await write(session, path, text);
    const result = await run(session, command);
    expect([result.verdict, result.approvals[0]?.reason, result.approvals[0]?.always]).toEqual([
      "ask",
      `${path} was changed by the agent since you allowed \`${command}\`.`,
      [],
    ]);
  });

  it.each(
    sampleCases(
      [
        ["other.txt", "sh scripts/x.sh", "x\n"],
        ["scripts/x.js", "npm test", "2;\n"],
        ["package.json", "npm test", '{"scripts":{"test":"true"},"dependencies":{"a":"1.0.0"},"version":"2.0.0"}'],
        ["scripts/x.py", "git add scripts/x.py", "2\n"],
      ],
      2,
    ),
  )("needs no approval if %s was changed and the line is %s", async (path, command, text) => {
    fixture.put(".gitignore", "");
    execFileSync("git", ["init", "-q", fixture.root]);
    const session = await open([command.split(" ").slice(0, 2).join(" ")]);
    await write(session, path, text);
    expect((await run(session, command)).verdict).toBe("allow");
  });

  it("needs no approval after the user approved it, until the next change", async () => {
    const session = await open(["sh scripts/x.sh"], { answer: () => ({ type: "once" }) });
    const verdicts: string[] = [];
    for (const text of ["echo 1\n", "echo 2\n"]) {
      await write(session, "scripts/x.sh", text);
      verdicts.push((await run(session, "sh scripts/x.sh")).verdict, (await run(session, "sh scripts/x.sh")).verdict);
    }
    expect(verdicts).toEqual(["ask", "allow", "ask", "allow"]);
  });

  it("ignores a file that has its original content again", async () => {
    const session = await open(["sh scripts/x.sh"]);
    await write(session, "scripts/x.sh", "echo 1\n");
    await write(session, "scripts/x.sh", "true\n");
    expect((await run(session, "sh scripts/x.sh")).verdict).toBe("allow");
  });

  it("also applies to an always-allow answer", async () => {
    const session = await open([], { answer: () => ({ type: "always", rule: "command", scope: "session" }) });
    const verdicts = [await run(session, "sh scripts/x.sh"), await run(session, "sh scripts/x.sh")];
    await write(session, "scripts/x.sh", "echo 1\n");
    verdicts.push(await run(session, "sh scripts/x.sh"));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["ask", "allow", "ask"]);
  });

  it.each(["sed -i s/true/false/ scripts/x.sh", "cp other.txt scripts/x.sh", "cp other.txt run.sh"])(
    "sees what a command wrote: %s",
    async (command) => {
      const session = await open(["sh scripts/x.sh"], { answer: () => ({ type: "once" }) });
      await run(session, command);
      expect((await run(session, "sh scripts/x.sh")).verdict).toBe("ask");
    },
  );

  itInAll("detects that an opaque command changed a task file", async () => {
    const command = `node -e "require('fs').writeFileSync('package.json', '{}')"`;
    const session = await open(["npm test"], { answer: () => ({ type: "once" }) });
    await run(session, command);
    expect((await run(session, "npm test")).verdict).toBe("ask");
  });

  it("detects a write before it in the same line, and in the same batch", async () => {
    const line = "cp other.txt scripts/x.sh && sh scripts/x.sh";
    const session = await open(["cp other.txt", "sh scripts/x.sh"]);
    expect((await run(session, line)).verdict).toBe("ask");
    const asked: string[] = [];
    session.scheduler.listen((event) => {
      if (event.type === "call-changed" && event.status.state === "awaiting_approval")
        asked.push(event.status.approval.reason);
    });
    const [first, second] = await session.scheduler.schedule([
      call(1001, "write_file", { file_path: "scripts/x.sh", content: `touch ${fixture.mark}\n` }),
      call(1002, "run_shell_command", { command: "sh scripts/x.sh" }),
    ]);
    expect([first?.outcome.status, second?.outcome.status, asked, fixture.hasMark()]).toEqual([
      "complete",
      "cancelled",
      ["scripts/x.sh was changed by the agent since you allowed `sh scripts/x.sh`."],
      false,
    ]);
  });

  it("is denied without a terminal, and runs in yolo mode", async () => {
    const verdicts: string[] = [];
    for (const options of [{ interactive: false }, { mode: "yolo" }] as const) {
      const session = await open(["sh scripts/x.sh"], options);
      await write(session, "scripts/x.sh", "echo 1\n");
      const result = await run(session, "sh scripts/x.sh");
      verdicts.push(result.verdict, result.text.includes("was changed by the agent") ? "said" : "not said");
    }
    expect(verdicts).toEqual(["deny", "said", "allow", "not said"]);
  });
});
