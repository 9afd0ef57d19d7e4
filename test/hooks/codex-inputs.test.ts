import { afterEach, describe, expect, it } from "vitest";
import { importHooks } from "../../src/extensions/hooks/import-hooks.ts";
import type { HookEvent } from "../../src/settings/schema/hook-shape.ts";
import { codexInputFields, compileCodexInput } from "./codex-fields.ts";
import { openHookStage, play, type HookStage } from "./fixture.ts";

let stage: HookStage;
afterEach(() => stage.remove());

const events = Object.keys(codexInputFields) as HookEvent[];
const long = "word ".repeat(3000);

describe("a hook imported from Codex", () => {
  it("gets inputs that Codex's schemas accept, at every event of Codex, in a session and in a subagent", async () => {
    const call = { tool: "run_shell_command", input: { command: "touch made.txt" } };
    stage = openHookStage({
      rules: [
        { prompt: "grown too long", replies: [{ say: "They wanted words." }] },
        { prompt: "sub", replies: [{ call: { tool: "list_directory", input: { path: "." } } }, { say: "Seen." }] },
        {
          prompt: "go",
          replies: [
            { call },
            { call: { tool: "task", input: { description: "look", prompt: "sub" } } },
            { say: `Done. ${long}` },
          ],
        },
      ],
      otherwise: { say: `More. ${long}` },
    });
    const { logs } = stage;
    const given = Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: "command", command: logs }] }]]));
    stage.settings({ hooks: importHooks("codex", given).hooks });
    await stage.trust();
    const session = await stage.open({ approve: () => ({ type: "once" }) });
    await play(session);
    await play(session, "again");
    expect(await session.agent.compact()).toBe(true);
    await session.close();
    const log = stage.log();
    const names = log.map(({ hook_event_name: event }) => event as HookEvent);
    expect(events.filter((event) => !names.includes(event))).toEqual([]);
    const checks = new Map(events.map((event) => [event, compileCodexInput(event)]));
    for (const input of log) {
      const check = checks.get(input["hook_event_name"] as HookEvent)!;
      check(input);
      expect({ input, errors: check.errors }).toEqual({ input, errors: null });
    }
    const turnsOf = (event: HookEvent): readonly unknown[] =>
      log.filter(({ hook_event_name: name }) => name === event).map(({ turn_id: id }) => id);
    const { id } = session.session;
    expect(turnsOf("UserPromptSubmit")).toEqual([`${id}#1`, `${id}#2`]);
    expect(turnsOf("Stop")).toEqual([`${id}#1`, `${id}#2`]);
    expect(turnsOf("PreToolUse")).toEqual([`${id}#1`, `${id}#1`, "task-1"]);
  });
});
