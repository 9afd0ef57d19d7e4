import { spawnSync } from "node:child_process";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { hookEvents } from "../../src/settings/schema/hook-shape.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { bin, ensureBuilt } from "../built.ts";
import { appFixtures } from "../tui/app-fixture.ts";
import { openHookStage, type HookStage } from "./fixture.ts";

/* Every event through the packaged program: without a terminal, and in one where the event needs a person. */

beforeAll(ensureBuilt);
const fixtures = appFixtures();
let stage: HookStage;
afterEach(() => stage.remove());

const everyEvent = (command: string): object =>
  Object.fromEntries(hookEvents.map((event) => [event, [{ hooks: [{ type: "command", command }] }]]));
const names = (): readonly unknown[] => stage.log().map((input) => input["hook_event_name"]);
const environment = (): NodeJS.ProcessEnv => ({
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: stage.base,
  PARLEY_HOME: stage.home,
});

/** Long enough for a compaction. */
const text = `${"word ".repeat(8)}\n`.repeat(1500);

const script = {
  rules: [
    { prompt: "sub", replies: [{ say: "Subagent done." }] },
    { prompt: "grown too long", replies: [{ say: "They wanted words." }] },
    {
      prompt: "go",
      replies: [
        { call: { tool: "run_shell_command", input: { command: "touch made.txt" } } },
        { call: { tool: "read_file", input: { absolute_path: "a.txt" } } },
        { call: { tool: "read_file", input: { absolute_path: "absent.txt" } } },
        { call: { tool: "task", input: { description: "look", prompt: "sub" } } },
        { say: "Done." },
      ],
    },
  ],
  otherwise: { say: "More." },
};

describe("every event", () => {
  it("happens without a terminal, and is a line of stream-json", async () => {
    stage = openHookStage(script);
    stage.put("work/a.txt", text);
    stage.settings({
      models: { "offline/parley": { context: 32_000 } },
      compaction: 0.3,
      hooks: everyEvent(stage.logs),
    });
    await stage.trust();
    const ran = spawnSync(process.execPath, [bin, "-p", "go", "-o", "stream-json"], {
      cwd: stage.work,
      encoding: "utf8",
      env: environment(),
    });
    const expected = [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PermissionRequest",
      "PostToolUse",
      "PostToolUseFailure",
      "SubagentStart",
      "SubagentStop",
      "PreCompact",
      "PostCompact",
      "Stop",
      "SessionEnd",
    ];
    expect(expected.filter((event) => !names().includes(event))).toEqual([]);
    const lines = ran.stdout
      .split("\n")
      .flatMap((line) => (line.includes('"type":"hook"') ? [JSON.parse(line) as { event: string }] : []));
    expect(expected.slice(0, -1).filter((event) => !lines.some((line) => line.event === event))).toEqual([]);
  });

  it("happens in the terminal, those about questions and switches too", async () => {
    stage = openHookStage(script);
    stage.settings({ hooks: everyEvent(stage.logs) });
    const fixture = await fixtures.on({ script, files: { "a.txt": text }, env: { PARLEY_HOME: stage.home } });
    await openTrustStore(realWorld().disk, stage.home).trustFolder(fixture.project);
    const app = fixture.start({ args: ["-m", "offline"] });
    await app.waitUntilIdle();
    app.submit("go");
    await app.waitForQuestion();
    app.type("y");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    app.submit("/compact");
    await app.waitForText("Compacted");
    await app.waitUntilIdle();
    app.submit("/model offline/script");
    await app.waitForText("Switch to offline/script?");
    app.type("y");
    await app.waitForText("Switched to offline/script");
    expect(await app.quit()).toBe(0);
    expect(hookEvents.filter((event) => !names().includes(event))).toEqual([]);
  });
});
