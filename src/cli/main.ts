import { runProgram } from "./program.ts";

// Once all output is written, exit at once: tearing down the heap takes tens of milliseconds.
process.on("beforeExit", () => process.exit());
void runProgram(process.argv.slice(2)).then((code) => (process.exitCode = code));
