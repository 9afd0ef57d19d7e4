import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { Json } from "../support/acp-client.ts";
import { runCommand } from "../support/run-command.ts";
import { useAcpSessions } from "./session-fixture.ts";

/*
 * "Always" and "never" in permission requests: one option per kind, whose name says how long it holds.
 */

const at = useAcpSessions(["anthropic"]);

const trustProject = (): Promise<void> => openTrustStore(realWorld({}).disk, at.stage.home).trustFolder(at.project);

/** The options of every permission request, each request answered with the one of this kind, if there is one. */
const answerWith = (kind: string): (readonly string[])[][] => {
  const asked: (readonly string[])[][] = [];
  at.client.handlers["session/request_permission"] = ({ options }) => {
    asked.push((options as Json[]).map(({ kind: each, name }) => [each as string, name as string]));
    const chosen = (options as Json[]).find((each) => each["kind"] === kind);
    return { outcome: { outcome: "selected", optionId: chosen?.["optionId"] ?? "none" } };
  };
  return asked;
};

/** The lines that `parley permissions` prints in the project. */
const permissions = async (...args: readonly string[]): Promise<readonly string[]> => {
  const env = { ...at.stage.env, PARLEY_HOME: at.stage.home };
  const { out } = await runCommand(["permissions", ...args], { cwd: at.project, env });
  return out.split("\n").filter((line) => line !== "");
};

const touch = (name: string): string => `call run_shell_command {"command":"touch ${name}"}`;

/** Connects again and opens another session in the same project. */
const reconnect = async (): Promise<string> => {
  await at.connect();
  return at.open();
};

describe("always", () => {
  it("holds in later sessions of a trusted project, and parley permissions shows it", async () => {
    await trustProject();
    await at.connect();
    const asked = answerWith("allow_always");
    await at.client.prompt(await at.open(), touch("a"));
    expect(asked).toEqual([
      [
        ["allow_once", "Allow"],
        ["allow_always", 'Always allow "touch" in this project'],
        ["reject_once", "Reject"],
        ["reject_always", 'Never allow "touch" in this project'],
      ],
    ]);
    expect(await permissions()).toEqual(["allow  run_shell_command(touch)  this project"]);
    const sessionId = await reconnect();
    const later = answerWith("reject_once");
    await at.client.prompt(sessionId, `${touch("b")}\n${'call run_shell_command {"command":"mkdir c"}'}`);
    expect(later.map((options) => options[1])).toEqual([["allow_always", 'Always allow "mkdir" in this project']]);
    expect(["a", "b", "c"].map((name) => existsSync(join(at.project, name)))).toEqual([true, true, false]);
  });

  it("covers edits of the project", async () => {
    await trustProject();
    await at.connect();
    const asked = answerWith("allow_always");
    await at.client.prompt(await at.open(), 'call write_file {"file_path":"a.txt","content":"one"}');
    const sessionId = await reconnect();
    await at.client.prompt(sessionId, 'call write_file {"file_path":"a.txt","content":"two"}');
    expect(asked.map((options) => options.slice(1))).toEqual([
      [
        ["allow_always", "Always allow edits in this project"],
        ["reject_once", "Reject"],
      ],
    ]);
    expect(await permissions()).toEqual(["allow  edits  this project"]);
  });

  it("holds for the session alone in a folder that is not trusted", async () => {
    await at.connect();
    const asked = answerWith("allow_always");
    const first = await at.open();
    await at.client.prompt(first, touch("a"));
    await at.client.prompt(first, touch("b"));
    await at.client.prompt(await at.open(), touch("c"));
    const always = ["allow_always", 'Always allow "touch" in this session'];
    expect(asked.map((options) => options[1])).toEqual([always, always]);
    expect(await permissions()).toEqual([]);
  });

  it("is not offered where no rule can cover the call", async () => {
    await trustProject();
    writeFileSync(join(at.project, "names"), "x");
    await at.connect();
    const asked = answerWith("allow_always");
    await at.client.prompt(await at.open(), 'call run_shell_command {"command":"mkdir $(cat names)"}');
    expect(asked.map((options) => options.map(([kind]) => kind))).toEqual([["allow_once", "reject_once"]]);
    expect(existsSync(join(at.project, "x"))).toBe(false);
  });
});

describe("never", () => {
  it("denies the command in later sessions, in every mode, until the rule is removed", async () => {
    await trustProject();
    await at.connect();
    answerWith("reject_always");
    await at.client.prompt(await at.open(), touch("a"));
    expect(await permissions()).toEqual(["deny  run_shell_command(touch)  this project"]);
    await at.connect({}, { "approval-mode": ["yolo"] });
    await at.client.prompt(await at.open(), touch("b"));
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body).includes("A rule denies touch.")).toBe(true);
    await permissions("remove", "run_shell_command(touch)");
    await at.client.prompt(await at.open(), touch("c"));
    expect(["a", "b", "c"].map((name) => existsSync(join(at.project, name)))).toEqual([false, false, true]);
  });

  it("is not offered for several commands at once: one of them may be fine", async () => {
    await trustProject();
    await at.connect();
    const asked = answerWith("reject_always");
    await at.client.prompt(await at.open(), 'call run_shell_command {"command":"touch a && mkdir b"}');
    expect(asked.map((options) => options.map(([kind]) => kind))).toEqual([
      ["allow_once", "allow_always", "reject_once"],
    ]);
    expect(await permissions()).toEqual([]);
  });
});
