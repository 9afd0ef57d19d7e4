/*
 * Whether a session gets slower and larger as it goes on: prints the time of a step and the memory in use after a
 * collection, late in a simulated session against early in it.
 *
 *   node --expose-gc --import tsx bench/growth.ts [steps] [context]
 */
import { playLongSession } from "../test/support/long-session.ts";

const [steps = 2000, window = 40_000] = process.argv.slice(2).map(Number);
const times: number[] = [];
const heaps = new Map<number, number>();
let last = performance.now();

await playLongSession({
  seed: 1,
  steps,
  windows: [window],
  onRequest: (request) => {
    times.push(performance.now() - last);
    if (request % 100 === 0) {
      globalThis.gc?.();
      heaps.set(request, process.memoryUsage().heapUsed / 1e6);
    }
    last = performance.now();
  },
});

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
const average = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const [early, late] = [times.slice(50, 450), times.slice(-400)];
const sizes = [...heaps.values()];
console.log(`steps: ${times.length}, context: ${window} tokens`);
console.log(
  `step: ${median(early).toFixed(2)} ms early, ${median(late).toFixed(2)} ms late, ${(median(late) / median(early)).toFixed(2)}x`,
);
const [heapEarly, heapLate] = [average(sizes.slice(0, 4)), average(sizes.slice(-4))];
console.log(
  `heap: ${heapEarly.toFixed(1)} MB early, ${heapLate.toFixed(1)} MB late, ${(heapLate / heapEarly).toFixed(2)}x (the log itself is held in memory here)`,
);
