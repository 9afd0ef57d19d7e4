/** Kills many workers and databases: tsx test/fleet/kill.ts [WORKERS] [DATABASES] [SEED]. Prints the report. */
import { killFleet } from "./support/kill.ts";

const [, , workers = "1000", databases = "50", seed = "1"] = process.argv;
const report = await killFleet({ workers: Number(workers), databases: Number(databases) }, Number(seed));
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
