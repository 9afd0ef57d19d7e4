import { describe, expect, it } from "vitest";
import { analyzeScript, findMismatch } from "./support/command-mismatch.ts";
import { canRunScripts, runScripts } from "./support/command-runs.ts";
import { isSafeToRun, randomScript } from "./support/command-scripts.ts";
import { Random } from "./support/random.ts";
import { perTier, seedFor } from "./support/tier.ts";

const bashScripts = perTier({ quick: 100, all: 1500 });
const dashScripts = perTier({ quick: 50, all: 300 });

const scripts = (count: number, seed: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => randomScript(new Random(seed + at))).filter(isSafeToRun);

/** Returns the scripts for which the analysis differs from what the shell did. */
const findDifferences = async (texts: readonly string[], shell: string): Promise<readonly object[]> => {
  const runs = await runScripts(texts, shell);
  const found: object[] = [];
  for (const [at, text] of texts.entries()) {
    const run = runs[at] ?? { called: [], created: [] };
    const fault = findMismatch(await analyzeScript(text), run, shell);
    if (fault !== undefined) found.push({ text, fault });
  }
  return found;
};

describe.skipIf(!canRunScripts("bash"))("the analysis of a shell script, compared with what bash runs", () => {
  it("is correct for random scripts and mutated attacks", async () => {
    expect(await findDifferences(scripts(bashScripts, seedFor(1)), "bash")).toEqual([]);
  });
});

describe.skipIf(!canRunScripts("dash"))("the analysis of a shell script, compared with what dash runs", () => {
  it("is correct for random scripts", async () => {
    expect(await findDifferences(scripts(dashScripts, seedFor(900_000)), "dash")).toEqual([]);
  });
});
