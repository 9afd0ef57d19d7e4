import { simulateMany } from "../support/agent-simulate-many.ts";

/*
 * npx tsx test/agent/simulate.ts [COUNT] [SEED]
 * Runs the whole agent in a simulated world, COUNT times from SEED on. Stops at the first broken promise.
 */
const count = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
  process.stderr.write("simulate: COUNT and SEED are whole numbers\n");
  process.exit(2);
}
const start = Date.now();
const { simulations, turns, requests, crashes, ends, hash, broken } = await simulateMany(count, seed, {
  isTraced: count === 1,
});
process.stdout.write(
  `${simulations} simulations: ${turns} turns (${JSON.stringify(ends)}), ${requests} requests, ${crashes} crashes, ${Math.round((Date.now() - start) / 1000)} s\n${hash}\n`,
);
if (broken !== undefined) {
  process.stdout.write(`${broken}\n`);
  process.exit(1);
}
