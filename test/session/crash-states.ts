import { crashEverywhere } from "./support/crash.ts";

/*
 * npx tsx test/session/crash-states.ts [COUNT] [SEED]
 * Power losses at every change of random sessions on a simulated disk, until COUNT states were opened again.
 */
const wanted = Number(process.argv[2] ?? 100_000);
const first = Number(process.argv[3] ?? 1);
if (!Number.isSafeInteger(wanted) || !Number.isSafeInteger(first)) {
  process.stderr.write("crash-states: COUNT and SEED are whole numbers\n");
  process.exit(2);
}

const start = Date.now();
let states = 0;
let told = 0;
for (let seed = first; states < wanted; seed++) {
  const report = await crashEverywhere(seed, 4);
  states += report.states;
  if (report.broken !== undefined) {
    process.stdout.write(`Broken: ${report.broken}\nAgain: npx tsx test/session/crash-states.ts 1 ${seed}\n`);
    process.exit(1);
  }
  if (states - told >= 10_000 || states >= wanted) {
    told = states;
    process.stdout.write(
      `${states} crash states of ${seed - first + 1} sessions, ${Math.round((Date.now() - start) / 1000)} s\n`,
    );
  }
}
