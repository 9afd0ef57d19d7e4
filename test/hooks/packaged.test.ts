import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { hookEvents } from "../../src/settings/schema/hook-shape.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { bin, ensureBuilt } from "../built.ts";
import { serveProgram } from "../support/acp-client.ts";
import { appFixtures } from "../tui/app-fixture.ts";
import { hooksFor, openHookStage, type HookStage } from "./fixture.ts";

/*
 * Every event through the packaged program: in a terminal, and without one. A run with -p asks no questions and has no command
 * that switches the model, so those events are also tested with an editor.
 */

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

const runProgram = (
  ...args: readonly string[]
): { readonly stdout: string; readonly stderr: string; readonly status: number | null } =>
  spawnSync(process.execPath, [bin, ...args], { cwd: stage.work, encoding: "utf8", env: environment() });

/** The models that answered in the only session. */
const answeredBy = (): readonly string[] => {
  const [file] = readdirSync(join(stage.home, "sessions"), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".jsonl"),
  );
  return [
    ...readFileSync(join(stage.home, "sessions", file ?? ""), "utf8").matchAll(/"kind":"request".*?"model":"([^"]*)"/g),
  ].map(([, model = ""]) => model);
};

describe("a hook that refuses a switch of the model", () => {
  const hooks = hooksFor("PreModelSwitch", "echo Too dear. >&2; exit 2", { name: "budget" });

  it("refuses to resume a session with another model, with and without a terminal", async () => {
    stage = openHookStage({ otherwise: { say: "Done." } });
    await stage.trust();
    stage.settings({ hooks, model: undefined });
    expect(runProgram("-m", "offline", "-p", "go").stdout).toBe("Done.\n");
    const denied = runProgram("-c", "-m", "offline/script", "-p", "again");
    expect(denied).toMatchObject({ status: 1, stdout: "" });
    const message = "The hook budget (user) refused the switch to offline/script: Too dear.";
    expect(denied.stderr).toContain(message);
    expect(denied.stderr).toContain("stays with offline/parley");
    expect(answeredBy()).toEqual(["parley"]);
    expect(runProgram("-c", "-p", "again")).toMatchObject({ status: 0, stdout: "Done.\n" });
    expect(answeredBy()).toEqual(["parley", "parley"]);
    const fixture = await fixtures.on({ env: { PARLEY_HOME: stage.home } });
    const app = fixture.start({ args: ["--cwd", stage.work, "-c", "-m", "offline/script", "again"] });
    expect((await app.ended).code).toBe(1);
    expect(app.screenText().replaceAll("\n", "")).toContain("The hook budget (user) refused");
    expect(answeredBy()).toEqual(["parley", "parley"]);
  });

  it("asks in the terminal before it resumes a session with another model", async () => {
    const ask = JSON.stringify({
      decision: "ask",
      reason: "Sure?",
      hookSpecificOutput: {
        hookEventName: "PreModelSwitch",
        permissionDecision: "ask",
        permissionDecisionReason: "Sure?",
      },
    });
    stage = openHookStage({ rules: [{ prompt: "again", replies: [{ say: "Later." }] }], otherwise: { say: "Done." } });
    await stage.trust();
    stage.settings({ hooks: hooksFor("PreModelSwitch", `echo '${ask}'`), model: undefined });
    expect(runProgram("-m", "offline", "-p", "go").stdout).toBe("Done.\n");
    expect(runProgram("-c", "-m", "offline/script", "-p", "again")).toMatchObject({ status: 1, stdout: "" });
    const fixture = await fixtures.on({ env: { PARLEY_HOME: stage.home } });
    const app = fixture.start({ args: ["--cwd", stage.work, "-c", "-m", "offline/script"] });
    await app.waitForText("asks whether to switch");
    app.type("y");
    await app.waitUntilIdle();
    app.submit("again");
    await app.waitForText("Later.");
    await app.waitUntilIdle();
    expect(await app.quit()).toBe(0);
    expect(answeredBy()).toEqual(["parley", "script"]);
  });
});

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

  it("happens without a terminal when the model fails and another takes over", async () => {
    stage = openHookStage({
      rules: [{ model: "parley", replies: [{ error: { status: 404, message: "No." } }] }],
      otherwise: { say: "Done." },
    });
    stage.settings({
      hooks: everyEvent(stage.logs),
      pools: { spare: { models: ["offline/script"] } },
      fallback: "spare",
      offline: { script: `${stage.base}/script.json` },
    });
    const ran = spawnSync(process.execPath, [bin, "-p", "go"], {
      cwd: stage.work,
      encoding: "utf8",
      env: environment(),
    });
    expect(ran.stdout).toBe("Done.\n");
    expect(stage.log().filter(({ hook_event_name: event }) => event === "PostModelSwitch")).toMatchObject([
      { from_model: "offline/parley", to_model: "offline/script" },
    ]);
  });

  it("happens without a terminal when a session is resumed with another model", async () => {
    stage = openHookStage({ otherwise: { say: "Done." } });
    stage.settings({ hooks: everyEvent(stage.logs), model: undefined });
    expect(runProgram("-m", "offline", "-p", "go").stdout).toBe("Done.\n");
    expect(runProgram("-c", "-m", "offline/script", "-p", "again").stdout).toBe("Done.\n");
    const change = { from_model: "offline/parley", to_model: "offline/script", source: "requested" };
    expect(stage.log().filter(({ hook_event_name: event }) => String(event).endsWith("ModelSwitch"))).toMatchObject([
      { hook_event_name: "PreModelSwitch", ...change },
      { hook_event_name: "PostModelSwitch", ...change },
    ]);
  });

  it("happens in an editor, those about questions and switches too", async () => {
    stage = openHookStage(script);
    stage.put("work/a.txt", text);
    stage.settings({ hooks: everyEvent(stage.logs) });
    await stage.trust();
    const { client, close } = serveProgram(["-m", "offline"], { env: environment(), cwd: stage.work });
    client.handlers["session/request_permission"] = ({ options }) => {
      const { optionId } = (options as { kind: string; optionId: string }[]).find(({ kind }) => kind === "allow_once")!;
      return { outcome: { outcome: "selected", optionId } };
    };
    await client.initialize();
    const { sessionId } = await client.request("session/new", { cwd: stage.work, mcpServers: [] });
    await client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
    await client.request("session/set_model", { sessionId, modelId: "offline/script" });
    expect(await close()).toBe(0);
    expect(client.problems).toEqual([]);
    const compaction = ["PreCompact", "PostCompact"];
    expect(hookEvents.filter((event) => !names().includes(event))).toEqual(compaction);
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
