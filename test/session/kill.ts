import { killPrograms } from "./support/kill.ts";

/*
 * npx tsx test/session/kill.ts [COUNT] [SEED]
 * Programs killed with SIGKILL at random moments of their work on real sessions, COUNT of them.
 */
const count = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
  process.stderr.write("kill: COUNT and SEED are whole numbers\n");
  process.exit(2);
}
const start = Date.now();
const { killed, finished, broken } = await killPrograms(count, seed);
process.stdout.write(
  `${killed} programs killed, ${finished} finished first, ${Math.round((Date.now() - start) / 1000)} s\n`,
);
if (broken !== undefined) {
  process.stdout.write(`Broken: ${broken}\n`);
  process.exit(1);
}
