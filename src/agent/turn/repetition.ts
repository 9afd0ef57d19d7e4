import type { Call, Outcome } from "../../conversation/parts.ts";
import { emptyHash, extendHash, hashToHex } from "../../hash.ts";

/** How often the same calls may have the same results before they count as a loop. */
const maxSameResults = 10;

/** How often the same calls may be made in a row, whatever their results. */
const maxSameCalls = 100;

/** The longest cycle that is detected: models alternate between two or three steps. */
const longestCycle = 4;

/** Detects a model that makes the same calls over and over without a new result (loop detection). */
export class RepeatedCallDetector {
  readonly #batches: CallBatch[] = [];
  #sameCalls = 0;

  /** Whether the calls of an answer continue a cycle of the same calls with the same results, or were made 100 times in a row. */
  isRepeating(calls: readonly Call[]): boolean {
    const key = keyOf(calls);
    if (this.#sameCalls >= maxSameCalls && key === this.#batches.at(-1)?.calls) return true;
    return Array.from({ length: longestCycle }, (_, index) => index + 1).some((cycle) => this.#hasCycle(cycle, key));
  }

  /** Records calls that were run, and their outcomes. */
  add(calls: readonly Call[], outcomes: readonly (Outcome | undefined)[]): void {
    const key = keyOf(calls);
    this.#sameCalls = key === this.#batches.at(-1)?.calls ? this.#sameCalls + 1 : 1;
    this.#batches.push(new CallBatch(key, outcomes));
    if (this.#batches.length > longestCycle * maxSameResults) this.#batches.shift();
  }

  /** Starts over: the user wrote a message, or lets the model continue. */
  reset(): void {
    this.#batches.length = 0;
    this.#sameCalls = 0;
  }

  #hasCycle(cycle: number, next: string): boolean {
    const span = cycle * maxSameResults;
    const recent = this.#batches.slice(-span);
    if (recent.length < span || recent[span - cycle]?.calls !== next) return false;
    return recent.every((batch, index) => {
      const earlier = recent[index - cycle] ?? batch;
      return batch.calls === earlier.calls && batch.results === earlier.results;
    });
  }
}

/** The calls of one answer and their results. Most calls never recur, so results are digested when they are compared. */
class CallBatch {
  readonly calls: string;
  #outcomes: readonly (Outcome | undefined)[];
  #results: string | undefined;

  constructor(calls: string, outcomes: readonly (Outcome | undefined)[]) {
    this.calls = calls;
    this.#outcomes = outcomes;
  }

  get results(): string {
    this.#results ??= digestOf(JSON.stringify(this.#outcomes.map((outcome) => [outcome?.status, outcome?.content])));
    this.#outcomes = [];
    return this.#results;
  }
}

const keyOf = (calls: readonly Call[]): string =>
  digestOf(JSON.stringify(calls.map(({ tool, input }) => [tool, input.type === "parsed" ? input.value : input.text])));

const digestOf = (text: string): string => hashToHex(extendHash(emptyHash, text));

/** Text is compared each time this many characters arrived, so the size of the deltas makes no difference. */
const stride = 1000;

/** Repetition is searched in the last `length` characters, every `every` characters. */
const windows = [
  { length: 8000, every: stride },
  { length: 32_000, every: 4 * stride },
] as const;

/** How often a period must recur in a window to be a repetition. */
const minRepeats = 8;

/**
 * The characters of exact repetition that stop an answer. Tables, boards and matrices of equal cells are common in
 * files that a model writes; equal sentences are not.
 */
const maxRepeatedProse = 12_000;
const maxRepeatedOther = 64_000;

/**
 * Detects an answer that repeats the same text exactly, over thousands of characters. Text that changes in any
 * way from one repeat to the next (a number, a name) is progress and never counts.
 */
export class RepeatedTextDetector {
  #recent = "";
  #pending = "";
  #length = 0;
  readonly #repeated: number[] = windows.map(() => 0);

  /** Adds text. True once the answer has only repeated itself for too long. */
  add(text: string): boolean {
    this.#pending += text;
    while (this.#pending.length >= stride) {
      this.#recent = (this.#recent + this.#pending.slice(0, stride)).slice(-windows[1].length);
      this.#pending = this.#pending.slice(stride);
      this.#length += stride;
      if (windows.some((_, index) => this.#isStuck(index))) return true;
    }
    return false;
  }

  #isStuck(index: number): boolean {
    const window = windows[index];
    if (window === undefined || this.#length % window.every !== 0 || this.#recent.length < window.length) return false;
    const tail = this.#recent.slice(-window.length);
    const period = periodOf(tail, Math.floor(window.length / minRepeats));
    if (period === undefined) {
      this.#repeated[index] = 0;
      return false;
    }
    const repeated = (this.#repeated[index] ?? 0) + window.every;
    this.#repeated[index] = repeated;
    const span = window.length + repeated - window.every;
    return span >= (isProse(tail.slice(0, period)) ? maxRepeatedProse : maxRepeatedOther);
  }
}

/** The shortest period of a text, up to `longest`; undefined if there is none. Uses the failure function of Knuth, Morris and Pratt. */
const periodOf = (text: string, longest: number): number | undefined => {
  const borders = new Int32Array(text.length);
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text.charCodeAt(at) !== text.charCodeAt(border)) border = borders[border - 1] ?? 0;
    if (text.charCodeAt(at) === text.charCodeAt(border)) border += 1;
    borders[at] = border;
  }
  const period = text.length - (borders[text.length - 1] ?? 0);
  return period <= longest ? period : undefined;
};

/** Whether a text reads as a sentence: mostly letters and spaces, and more than a word or two. */
const isProse = (text: string): boolean => {
  const letters = text.match(/\p{L}/gu) ?? [];
  const spaces = text.match(/\s/g) ?? [];
  if (letters.length + spaces.length < 0.8 * Array.from(text).length) return false;
  const words = `${text}${text}`.match(/\p{L}+/gu) ?? [];
  return new Set(words).size >= 3 || new Set(letters).size >= 10;
};
