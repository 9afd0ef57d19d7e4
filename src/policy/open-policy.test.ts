import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Program } from "../world/processes.ts";
import { realWorld } from "../world/real/world.ts";
import { openPolicy } from "./open-policy.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "policy-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it("starts no program while it prepares for commands, and asks about the first one as it would without", async () => {
  const world = realWorld({ PATH: process.env["PATH"] ?? "" });
  const programs: Program[] = [];
  const start: typeof world.processes.start = (program) => {
    programs.push(program);
    return world.processes.start(program);
  };
  const policy = await openPolicy({
    world: { ...world, processes: { ...world.processes, start } },
    roots: [base],
    home: join(base, ".parley"),
    mode: "default",
    interactive: true,
    trusted: true,
  });
  await policy.prepareCommands();
  expect(programs).toEqual([]);

  const command = { text: "touch made", folder: base };
  const touches = { reads: [], writes: [], urls: [], command };
  const { decision } = await policy.gate.judge({ tool: "run_shell_command", access: "execute", touches });
  expect(decision).toBe("ask");
  const context = { signal: new AbortController().signal, report: () => undefined };
  const { code } = await policy.shell.run({ ...command, text: "exit 3", ...context });
  expect([code, programs.length]).toEqual([3, 1]);
  await policy.close();
});
