import { providers } from "../../src/providers/all.ts";
import type { Provider } from "../../src/providers/define.ts";
import { makeHistory } from "./histories.ts";
import { checkHistory } from "./properties.ts";

/*
 * FIRST COUNT two|five|every: checks histories, one after the other, for a provider of two APIs or of each of the five, in
 * turn, or for every provider.
 * Prints how many kept every promise, and the first that broke one, as JSON.
 */
const [first = 1, count = 1] = process.argv.slice(2, 4).map(Number);
const reach = process.argv[4];

const wires = [...new Set(providers.map(({ wire }) => wire))];

/** More than the models of a provider, among which a history chooses by its seed too. */
const historiesInTurn = 12;

/** Two of all APIs, or all. Each next round of turns begins one later, so that an API gets histories of every remainder. */
const isTurnOf = (index: number, seed: number): boolean =>
  reach === "five" || (index + seed + Math.floor(seed / wires.length)) % wires.length < 2;

const takeTurns = (seed: number): readonly Provider[] =>
  wires
    .filter((_, index) => isTurnOf(index, seed))
    .map((wire) => {
      const family = providers.filter((provider) => provider.wire === wire);
      return family[Math.floor(seed / historiesInTurn) % family.length]!;
    });

let kept = 0;
let broken: object | undefined;
for (let seed = first; seed < first + count && broken === undefined; seed++) {
  broken = checkHistory(makeHistory(seed), reach === "every" ? providers : takeTurns(seed), seed);
  if (broken === undefined) kept += 1;
  else broken = { ...broken, again: `npm run fuzz -- --histories 1 --seed ${seed}` };
}
process.stdout.write(JSON.stringify({ kept, ...(broken && { broken }) }));
