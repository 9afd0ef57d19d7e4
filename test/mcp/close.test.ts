import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { createStdioTransport } from "../../src/mcp/connection/stdio.ts";
import type { RunningProcess } from "../../src/world/processes.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { untilGone } from "../support/processes.ts";

it("leaves no process behind when it is closed while the process starts", async () => {
  const world = realWorld();
  const started: RunningProcess[] = [];
  const start: typeof world.processes.start = async (program) => {
    const running = await world.processes.start(program);
    started.push(running);
    return running;
  };
  const transport = createStdioTransport({
    world: { ...world, processes: { ...world.processes, start } },
    endpoint: { type: "stdio", command: process.execPath, args: ["-e", "setInterval(() => undefined, 1000)"], env: {} },
    root: realpathSync(tmpdir()),
  });
  const starting = transport.start();
  await transport.close();
  await expect(starting).rejects.toThrow("The connection is closed.");
  expect(started).toHaveLength(1);
  // A killed process takes a moment to go.
  for (const running of started) await untilGone(...(await running.groupMembers()));
});
