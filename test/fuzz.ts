import { parseArgs } from "node:util";
import { providers } from "../src/providers/all.ts";
import { buildHistory, makeHistory } from "./support/histories.ts";
import { checkHistory, type BrokenProperty } from "./support/properties.ts";
import { shrink } from "./support/shrink.ts";

/*
 * npm run fuzz -- --histories N --seed S [--provider ID]
 * Random conversations against every promise, for every provider.
 */
const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    provider: { type: "string" },
  },
});
const histories = Number(values.histories);
const first = Number(values.seed);
const chosen = providers.filter(({ id }) => values.provider === undefined || id === values.provider);
if (!Number.isSafeInteger(histories) || !Number.isSafeInteger(first) || chosen.length === 0) {
  process.stderr.write("fuzz: --histories and --seed are whole numbers, --provider is one of: ");
  process.stderr.write(`${providers.map(({ id }) => id).join(", ")}\n`);
  process.exit(2);
}

const check = (history: ReturnType<typeof makeHistory>, seed: number): BrokenProperty | undefined => {
  try {
    return checkHistory(history, chosen, seed);
  } catch (error) {
    return {
      property: "total",
      target: "",
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
};

const start = Date.now();
for (let index = 0; index < histories; index++) {
  const seed = first + index;
  const broken = check(makeHistory(seed), seed);
  if (broken !== undefined) {
    const small = shrink(makeHistory(seed), (history) => check(history, seed)?.property === broken.property);
    process.stdout.write(`\nBroken: ${broken.property} for ${broken.target}\n${broken.detail}\n`);
    process.stdout.write(
      `\nSmallest conversation found:\n${JSON.stringify(buildHistory(small).conversation, null, 2)}\n`,
    );
    process.stdout.write(`\nAgain: npm run fuzz -- --histories 1 --seed ${seed}\n`);
    process.exit(1);
  }
  if ((index + 1) % 1000 === 0 || index + 1 === histories) {
    const seconds = Math.max(1, Math.round((Date.now() - start) / 1000));
    process.stdout.write(`${index + 1} of ${histories} histories x ${chosen.length} providers, ${seconds} s\n`);
  }
}
