import { parseArgs } from "node:util";
import { analyzeScript, findMismatch } from "./support/command-mismatch.ts";
import { canRunScripts, runScripts } from "./support/command-runs.ts";
import { isSafeToRun, randomScript } from "./support/command-scripts.ts";
import { Random } from "./support/random.ts";

/*
 * npm run fuzz:commands -- --scripts N --seed S [--shell bash|dash]
 * Runs random scripts in a real shell and compares what they did with the analysis of commands.
 */
const { values } = parseArgs({
  options: {
    scripts: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    shell: { type: "string", default: "bash" },
  },
});
const wanted = Number(values.scripts);
const first = Number(values.seed);
if (!Number.isSafeInteger(wanted) || !Number.isSafeInteger(first) || !canRunScripts(values.shell)) {
  process.stderr.write("fuzz: --scripts and --seed are whole numbers, and --shell is a shell of this machine.\n");
  process.exit(2);
}

const start = Date.now();
const counts = { plain: 0, opaque: 0, called: 0, faults: 0 };
for (let done = 0, seed = first; done < wanted;) {
  const batch: { seed: number; text: string }[] = [];
  for (; batch.length < Math.min(500, wanted - done); seed++) {
    const text = randomScript(new Random(seed));
    if (isSafeToRun(text)) batch.push({ seed, text });
  }
  const runs = await runScripts(
    batch.map(({ text }) => text),
    values.shell,
  );
  for (const [at, { seed: own, text }] of batch.entries()) {
    const analysis = await analyzeScript(text);
    const run = runs[at] ?? { called: [], created: [] };
    counts[analysis.shape]++;
    counts.called += run.called.length;
    const fault = findMismatch(analysis, run, values.shell);
    if (fault === undefined) continue;
    counts.faults++;
    process.stdout.write(`\nSeed ${own}: ${fault}\n${JSON.stringify(text)}\n`);
  }
  done += batch.length;
  process.stdout.write(
    `${done} of ${wanted} scripts, ${Math.round((Date.now() - start) / 1000)} s: ${JSON.stringify(counts)}\n`,
  );
}
process.exit(counts.faults > 0 ? 1 : 0);
