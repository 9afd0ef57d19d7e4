/**
 * Kills many workers and databases: tsx test/fleet/kill.ts [WORKERS] [DATABASES] [SEED] [MINUTES]. Prints the report; after
 * so many minutes, that of the kills so far.
 */
import { killFleet } from "./support/kill.ts";

const [, , workers = "1000", databases = "50", seed = "1", minutes = "600"] = process.argv;
const end = performance.now() + Number(minutes) * 60_000;
const report = await killFleet(
  { workers: Number(workers), databases: Number(databases) },
  {
    seed: Number(seed),
    lease: 3,
    mayGoOn: () => performance.now() < end,
    onProgress: (progress) => process.stderr.write(`${progress}\n`),
  },
);
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
