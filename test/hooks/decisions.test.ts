import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.ts";
import type { ScriptedReply } from "../../src/offline/script/script.ts";
import { hooksFor, openHookStage, play, type HookStage } from "./fixture.ts";

let stage: HookStage;
afterEach(() => stage.remove());

const shell = (command: string): ScriptedReply => ({ call: { tool: "run_shell_command", input: { command } } });
const results = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "call-completed"
      ? event.finished.outcome.content.map((part) => (part.type === "text" ? part.text : part.type))
      : [],
  );
const json = (value: object): string => `cat >/dev/null; echo '${JSON.stringify(value)}'`;
const decide = (permissionDecision: string, more: object = {}): string =>
  json({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more } });

describe("a PreToolUse hook", () => {
  it("that ends with exit code 2 denies the call, and the model reads why", async () => {
    stage = openHookStage({ replies: [shell("touch made.txt"), { say: "Well." }] });
    stage.settings({ hooks: hooksFor("PreToolUse", "echo Not here. >&2; exit 2", {}, "Bash") });
    const session = await stage.open({ approve: () => ({ type: "once" }) });
    expect(results(await play(session))).toEqual(["A hook denied this call: Not here."]);
    await session.close();
    expect(existsSync(join(stage.work, "made.txt"))).toBe(false);
  });

  it("can allow what needs approval, in a trusted folder only", async () => {
    stage = openHookStage({ replies: [shell("touch made.txt"), { say: "Well." }] });
    stage.settings({ hooks: hooksFor("PreToolUse", decide("allow"), {}, "run_shell_command") });
    const before = await stage.open();
    expect(results(await play(before))[0]).toContain("this session is not interactive");
    await before.close();
    await stage.trust();
    const session = await stage.open();
    expect(results(await play(session))[0]).toContain("Exit Code: 0");
    await session.close();
  });

  it.each([
    ["a deny rule", "touch made.txt", { permissions: { deny: ["run_shell_command(touch)"] } }],
    ["the floor", "rm -rf /", {}],
    ["a protected path", "touch .envrc", {}],
  ])("never allows what %s forbids", async (_, command, settings) => {
    stage = openHookStage({ replies: [shell(command), { say: "Well." }] });
    stage.settings({ ...settings, hooks: hooksFor("PreToolUse", decide("allow")) });
    await stage.trust();
    const session = await stage.open();
    const events = await play(session);
    await session.close();
    expect(events.flatMap((event) => (event.type === "call-completed" ? [event.finished.error?.type] : []))).toEqual([
      "policy_violation",
    ]);
  });

  it("can have a call asked about that yolo mode would run", async () => {
    stage = openHookStage({ replies: [shell("touch made.txt"), { say: "Well." }] });
    stage.settings({
      permissions: { mode: "yolo" },
      hooks: hooksFor("PreToolUse", decide("ask", { permissionDecisionReason: "Sure?" })),
    });
    await stage.trust();
    const asked: string[] = [];
    const session = await stage.open({
      approve: ({ approval }) => {
        asked.push(approval.reason);
        return { type: "refuse" };
      },
    });
    await play(session);
    await session.close();
    expect(asked).toEqual(["A hook asks for approval: Sure?"]);
  });

  it("changes the arguments in the shape of the name it matched, and the change is recorded and judged", async () => {
    stage = openHookStage({
      replies: [
        { call: { tool: "read_file", input: { absolute_path: "a.txt" } } },
        { call: { tool: "read_file", input: { absolute_path: "a.txt" } } },
        { say: "Well." },
      ],
    });
    stage.put("work/a.txt", "aaa");
    stage.put("work/b.txt", "bbb");
    stage.settings({
      hooks: hooksFor("PreToolUse", decide("allow", { updatedInput: { file_path: "b.txt" } }), {}, "Read"),
    });
    await stage.trust();
    const session = await stage.open();
    const events = await play(session);
    const [first] = results(events);
    const args = events.flatMap((event) =>
      event.type === "call-completed" ? [event.finished.record.function_args] : [],
    );
    const notices = session.agent
      .conversation()
      .entries.flatMap((entry) => (entry.type === "notice" ? [entry.text] : []));
    await session.close();
    expect([first, args[0]]).toEqual([expect.stringContaining("bbb"), { absolute_path: "b.txt" }]);
    expect(notices.filter((text) => text.includes("changed the arguments"))[0]).toBe(
      'A hook of the user changed the arguments of your call of read_file (hist_tool_1). It ran with: {"absolute_path":"b.txt"}',
    );
  });

  it("cannot lead a call out of the workspace by changing its arguments", async () => {
    stage = openHookStage({
      replies: [{ call: { tool: "read_file", input: { absolute_path: "a.txt" } } }, { say: "Well." }],
    });
    stage.put("secret.txt", "canary");
    stage.settings({
      hooks: hooksFor("PreToolUse", decide("allow", { updatedInput: { file_path: "../secret.txt" } })),
    });
    await stage.trust();
    const session = await stage.open();
    const [result] = results(await play(session));
    await session.close();
    expect(result).not.toContain("canary");
  });

  it("that gives an unknown decision denies; of several, the strictest decision counts", async () => {
    stage = openHookStage({ replies: [shell("cat a.txt"), shell("cat a.txt"), { say: "Well." }] });
    stage.put("work/a.txt", "aaa");
    stage.settings({ hooks: hooksFor("PreToolUse", decide("maybe")) });
    const one = await stage.open();
    expect(results(await play(one))[0]).toBe('A hook denied this call: A hook gave the unknown decision "maybe".');
    await one.close();
    stage.settings({
      hooks: {
        PreToolUse: [
          {
            hooks: [
              { type: "command", command: decide("allow") },
              { type: "command", command: decide("deny", { permissionDecisionReason: "No." }) },
              { type: "command", command: decide("ask") },
            ],
          },
        ],
      },
    });
    const two = await stage.open();
    expect(results(await play(two))[0]).toBe("A hook denied this call: No.");
    await two.close();
  });
});

describe("hooks of a turn", () => {
  it("refuse a prompt, which then is not part of the conversation", async () => {
    stage = openHookStage({ replies: [{ say: "Hello." }] });
    stage.settings({ hooks: hooksFor("UserPromptSubmit", "echo 'No secrets, please.' >&2; exit 2") });
    const session = await stage.open();
    const events = await play(session, "my password is x");
    expect(events.at(-1)).toEqual({
      type: "failed",
      failure: { kind: "hook", message: "A hook refused the prompt: No secrets, please." },
    });
    expect(session.agent.hasMessages()).toBe(false);
    await session.close();
  });

  it("add context after what was sent before: earlier bytes stay as they were", async () => {
    stage = openHookStage({ replies: [shell("cat a.txt"), { say: "Well." }] });
    stage.put("work/a.txt", "aaa");
    stage.settings({
      hooks: {
        ...hooksFor("SessionStart", "cat >/dev/null; echo Use tabs."),
        ...hooksFor("UserPromptSubmit", "cat >/dev/null; echo It is Monday."),
        ...hooksFor(
          "PostToolUse",
          json({ hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "Seen." } }),
        ),
      },
    });
    const session = await stage.open();
    await play(session);
    const entries = session.agent.conversation().entries.slice(1);
    await session.close();
    expect(entries.map((entry) => (entry.type === "notice" ? entry.text : entry.type))).toEqual([
      "A SessionStart hook of the user says:\nUse tabs.",
      "user",
      "A UserPromptSubmit hook of the user says:\nIt is Monday.",
      "model",
      "completion",
      "A PostToolUse hook of the user says:\nSeen.",
      "model",
    ]);
  });

  it("continue a turn that stops too early, but not for ever", async () => {
    stage = openHookStage({ otherwise: { say: "Done." } });
    const { logs } = stage;
    stage.settings({ hooks: hooksFor("Stop", `${logs}; echo Run the tests. >&2; exit 2`) });
    const session = await stage.open();
    const events = await play(session);
    await session.close();
    expect(events.filter(({ type }) => type === "request")).toHaveLength(9);
    expect(events.at(-1)).toMatchObject({ type: "finished", reason: "stop" });
    expect(stage.log().map((input) => input["stop_hook_active"])).toEqual([
      false,
      ...Array.from({ length: 8 }, () => true),
    ]);
    expect(events).toContainEqual({ type: "notice", text: "Hooks kept the turn from ending 8 times. It ends now." });
  });

  it("stop a turn with continue: false", async () => {
    stage = openHookStage({ replies: [shell("cat a.txt"), { say: "More." }] });
    stage.put("work/a.txt", "aaa");
    stage.settings({ hooks: hooksFor("PostToolUse", json({ continue: false, stopReason: "Enough." })) });
    const session = await stage.open();
    const events = await play(session);
    await session.close();
    expect([events.at(-1), events.filter(({ type }) => type === "request").length]).toEqual([
      { type: "finished", reason: "hook", text: "" },
      1,
    ]);
  });

  it("that fail are reported and change nothing, unless they are to block", async () => {
    stage = openHookStage({ replies: [shell("cat a.txt"), { say: "Well." }] });
    stage.put("work/a.txt", "aaa");
    const broken = hooksFor("PreToolUse", "echo Broken. >&2; exit 7");
    stage.settings({ hooks: broken });
    const session = await stage.open();
    const events = await play(session);
    await session.close();
    expect(results(events)[0]).toContain("aaa");
    expect(events.flatMap((event) => (event.type === "hook" ? [event.activity.message] : []))).toEqual([
      "It ended with exit code 7: Broken.",
    ]);
    stage.settings({ hooks: hooksFor("PreToolUse", "exit 7", { onFailure: "block" }) });
    const strict = await stage.open();
    expect(results(await play(strict))[0]).toBe("A hook denied this call: A hook failed. It ended with exit code 7.");
    await strict.close();
  });

  it("refuse a switch of the model, with the figures of the switch check", async () => {
    stage = openHookStage({ otherwise: { say: "Done." } });
    stage.settings({ hooks: hooksFor("PreModelSwitch", "echo Too dear. >&2; exit 2", {}, "offline/script") });
    const session = await stage.open();
    await play(session);
    await expect(session.switchModel("offline/script")).rejects.toThrow(
      "The hook echo Too dear. >&2; exit 2 (user) refused the switch to offline/script: Too dear.",
    );
    await session.close();
  });
});
