import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { programStage, type ProgramStage } from "../support/agent-program.ts";

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  const command = "trap '' TERM; sleep 600 & echo $$ $! > pids; echo begun; wait; sleep 600";
  stage = await programStage(["anthropic"], {
    script: () => ({ parts: [{ type: "call", tool: "run_shell_command", input: { command } }] }),
  });
});
afterAll(() => stage.close());

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const gone = async (pids: readonly number[]): Promise<boolean> => {
  for (let looks = 0; looks < 300; looks += 1) {
    if (!pids.some(isAlive)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
};

const args = ["-p", "Do it.", "-m", "anthropic", "--approval-mode", "yolo", "-o", "stream-json"];

describe("a running command, with all it started", () => {
  it.each([
    ["SIGKILL", ["SIGKILL"]],
    ["SIGQUIT", ["SIGQUIT"]],
    ["a second SIGINT", ["SIGINT", "SIGINT"]],
  ] as const)("ends when Parley is ended by %s", async (_, signals) => {
    let sent = false;
    await stage.run(args, {
      line: (line, child) => {
        if (sent || !line.includes("begun") || !line.includes("tool_output")) return;
        sent = true;
        for (const signal of signals) child.kill(signal);
      },
    });
    const file = join(stage.project, "pids");
    expect([sent, existsSync(file)]).toEqual([true, true]);
    const pids = readFileSync(file, "utf8").trim().split(" ").map(Number);
    expect([pids.length, await gone(pids)]).toEqual([2, true]);
  });
});
