/*
 * A program with as few file descriptors as `ulimit -n` allows: starts one command too many, and prints the result.
 */
import { openSync } from "node:fs";
import { createRealProcesses } from "../../src/world/real/process/processes.ts";

const realProcesses = createRealProcesses();

await realProcesses.find("sh", "/bin");
const program = { file: "/bin/sh", args: ["-c", "true"], cwd: "/", env: {}, diesWithParent: true } as const;
const taken: number[] = [];
try {
  for (;;) taken.push(openSync("/dev/null", "r"));
} catch {
  taken.length = 0;
}
const ended = await realProcesses.start(program).then(
  () => "started",
  (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
);
process.stdout.write(`${ended}\n`);
