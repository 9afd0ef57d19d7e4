import { createHash } from "node:crypto";
import { simulate } from "./agent-simulation.ts";
import { warmUp } from "./agent-warm.ts";

/*
 * COUNT SEED [trace]: simulates, one after the other, and prints the totals as JSON. Ends with the first promise that
 * is broken. With `trace`, the events are printed on stderr.
 */
const [count = 1, first = 1] = process.argv.slice(2, 4).map(Number);
const trace = process.argv[4] === "trace" ? (line: string) => process.stderr.write(line) : undefined;
await warmUp();
const hash = createHash("sha256");
const ends: Record<string, number> = {};
const sum = { simulations: 0, turns: 0, requests: 0, crashes: 0 };
let broken: string | undefined;
for (let seed = first; seed < first + count && broken === undefined; seed++) {
  const simulated = await simulate(seed, trace);
  broken = simulated.broken;
  hash.update(simulated.hash);
  sum.simulations += 1;
  sum.turns += simulated.turns;
  sum.requests += simulated.requests;
  sum.crashes += simulated.crashes;
  for (const [type, number] of Object.entries(simulated.ends)) ends[type] = (ends[type] ?? 0) + number;
}
process.stdout.write(`${JSON.stringify({ ...sum, ends, hash: hash.digest("hex"), ...(broken && { broken }) })}\n`);
