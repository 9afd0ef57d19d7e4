import { ensureBuilt } from "../built.ts";
import { killAgents } from "../support/agent-kill.ts";

/*
 * npx tsx test/agent/kill.ts [COUNT] [SEED]
 * Kills the built program with SIGKILL at random moments of real work, COUNT times.
 */
const count = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
  process.stderr.write("kill: COUNT and SEED are whole numbers\n");
  process.exit(2);
}
ensureBuilt();
const start = Date.now();
const { killed, finished, broken } = await killAgents(count, seed);
process.stdout.write(
  `${killed} programs killed, ${finished} finished first, ${Math.round((Date.now() - start) / 1000)} s\n`,
);
if (broken !== undefined) {
  process.stdout.write(`Broken: ${broken}\n`);
  process.exit(1);
}
