import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hookEvents } from "../../src/settings/schema/hook-shape.ts";
import { hooksFor, openHookStage, play, type HookStage } from "./fixture.ts";

let stage: HookStage;
afterEach(() => stage.remove());

const long = "word ".repeat(3000);

describe("hooks of a session", () => {
  it("get every event once it happens, with its fields", async () => {
    stage = openHookStage({
      rules: [
        { prompt: "grown too long", replies: [{ say: "They wanted words." }] },
        { prompt: "sub", replies: [{ say: "Subagent done." }] },
        {
          prompt: "go",
          replies: [
            { call: { tool: "run_shell_command", input: { command: "touch made.txt" } } },
            { call: { tool: "read_file", input: { absolute_path: "absent.txt" } } },
            { call: { tool: "task", input: { description: "look", prompt: "sub" } } },
            { say: `Done. ${long}` },
          ],
        },
      ],
      otherwise: { say: `More. ${long}` },
    });
    const { logs } = stage;
    stage.settings({
      hooks: Object.fromEntries(hookEvents.map((event) => [event, [{ hooks: [{ type: "command", command: logs }] }]])),
    });
    await stage.trust();
    const session = await stage.open({ approve: () => ({ type: "once" }) });
    await play(session);
    await play(session, "again");
    await play(session, "and again");
    expect(await session.agent.compact()).toBe(true);
    await session.switchModel("offline/script");
    await session.close();
    const common = {
      session_id: session.session.id,
      cwd: stage.work,
      permission_mode: "default",
      model: "offline/parley",
    };
    const log = stage.log();
    const names = log.map(({ hook_event_name: event }) => event);
    // Nothing waits for it.
    expect(names.filter((name) => name === "Notification")).toHaveLength(1);
    expect(names.filter((name) => name !== "Notification")).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PermissionRequest",
      "PostToolUse",
      "PreToolUse",
      "PostToolUseFailure",
      "PreToolUse",
      "SubagentStart",
      "SubagentStop",
      "PostToolUse",
      "Stop",
      "UserPromptSubmit",
      "Stop",
      "UserPromptSubmit",
      "Stop",
      "PreCompact",
      "PostCompact",
      "SessionStart",
      "PreModelSwitch",
      "PostModelSwitch",
      "SessionEnd",
    ]);
    expect(log.slice(0, 3)).toMatchObject([
      { ...common, source: "startup" },
      { ...common, prompt: "go" },
      { ...common, tool_name: "Bash", tool_input: { command: "touch made.txt" }, tool_use_id: "hist_tool_1" },
    ]);
    for (const name of ["SubagentStart", "SubagentStop"])
      expect(log.find(({ hook_event_name: event }) => event === name)).toMatchObject({
        agent_id: "task-1",
        agent_type: "general-purpose",
      });
    expect(log.find(({ hook_event_name: event }) => event === "PostToolUse")).toMatchObject({
      tool_name: "Bash",
      tool_response: { stdout: "", stderr: "", interrupted: false, isImage: false, exit_code: 0 },
    });
    expect(log.find(({ hook_event_name: event }) => event === "PreModelSwitch")).toMatchObject({
      from_model: "offline/parley",
      to_model: "offline/script",
      source: "requested",
      fits: true,
      context_tokens: expect.any(Number) as number,
      prompt_cache_warm: false,
    });
  });

  it("run, as calls do, with a word longer than the name of a file can be", async () => {
    const command = `cat ${"x".repeat(300)}; touch`;
    const call = { tool: "run_shell_command", input: { command: `${command} called.txt` } };
    stage = openHookStage({ replies: [{ call }, { say: "Done." }] });
    stage.settings({ hooks: hooksFor("SessionStart", `${command} hooked.txt`), permissions: { mode: "yolo" } });
    await stage.trust();
    const session = await stage.open();
    await play(session);
    await session.close();
    expect(["hooked.txt", "called.txt"].filter((name) => !existsSync(join(stage.work, name)))).toEqual([]);
  });
});
