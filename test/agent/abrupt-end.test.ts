import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { untilGone } from "../support/processes.ts";

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  const command = "trap '' TERM; sleep 600 & echo $$ $! > pids; for i in $(seq 6000); do echo begun; sleep 0.1; done";
  stage = await openProgramStage(["anthropic"], {
    script: () => ({ parts: [{ type: "call", tool: "run_shell_command", input: { command } }] }),
  });
});
afterAll(() => stage.close());

const args = ["-p", "Do it.", "-m", "anthropic", "--approval-mode", "yolo", "-o", "stream-json"];

/** The outcome of the only call of the last session. */
const outcome = (): unknown => {
  const folder = join(stage.home, ".parley/sessions");
  const [project = ""] = readdirSync(folder);
  const logs = readdirSync(join(folder, project)).filter((name) => name.endsWith(".jsonl"));
  const [last = ""] = logs.toSorted(
    (one, other) => modified(join(folder, project, other)) - modified(join(folder, project, one)),
  );
  const locks = readdirSync(join(folder, project, "locks"));
  const log = readFileSync(join(folder, project, last), "utf8");
  return { cancelled: log.includes("The user cancelled this call while it ran."), locks };
};

const modified = (path: string): number => statSync(path).mtimeMs;

describe("a run that is stopped by a signal or a closed pipe", () => {
  it.each([
    ["its reader leaves", 141],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("stops its commands, records them as cancelled and releases its locks: %s", async (how, code) => {
    const ran = await stage.runBuilt(args, {
      line: (line, child) => {
        if (!line.includes("begun") || !line.includes("tool_output")) return;
        if (how === "its reader leaves") child.stdout?.destroy();
        else child.kill(how);
      },
    });
    const pids = readFileSync(join(stage.project, "pids"), "utf8").trim().split(" ").map(Number);
    await untilGone(...pids);
    expect([ran.code, ran.signal, outcome()]).toEqual([code, null, { cancelled: true, locks: [] }]);
  });
});

describe("a running command and its child processes", () => {
  it.each([
    ["SIGKILL", ["SIGKILL"]],
    ["SIGQUIT", ["SIGQUIT"]],
    ["a second SIGINT", ["SIGINT", "SIGINT"]],
  ] as const)("end when Parley is stopped by %s", async (_, signals) => {
    let sent = false;
    await stage.runBuilt(args, {
      line: (line, child) => {
        if (sent || !line.includes("begun") || !line.includes("tool_output")) return;
        sent = true;
        for (const signal of signals) child.kill(signal);
      },
    });
    const file = join(stage.project, "pids");
    expect([sent, existsSync(file)]).toEqual([true, true]);
    const pids = readFileSync(file, "utf8").trim().split(" ").map(Number);
    await untilGone(...pids);
    expect(pids.length).toBe(2);
  });
});
