import type { Call, Outcome } from "../../conversation/parts.ts";
import { emptyHash, extendHash, hashToHex } from "../../transcript/digest.ts";

/** So many times the same calls with the same results, and nothing new will come of them. */
const maxSameResults = 10;

/** So many times the same calls in a row, whatever came of them. */
const maxSameCalls = 100;

/** Calls are also compared with those before the last: models alternate between two or three steps. */
const longestCycle = 4;

/** Notices when a model makes the same calls again and again without learning anything new from them. */
export class RepeatedCallDetector {
  readonly #batches: { readonly calls: string; readonly results: string }[] = [];
  #sameCalls = 0;

  /** Whether the calls of an answer continue a cycle of the same calls with the same results, or came 100 times in a row. */
  isRepeating(calls: readonly Call[]): boolean {
    const key = keyOf(calls);
    if (this.#sameCalls >= maxSameCalls && key === this.#batches.at(-1)?.calls) return true;
    return Array.from({ length: longestCycle }, (_, index) => index + 1).some((cycle) => this.#hasCycle(cycle, key));
  }

  /** Records calls that were run, and how they ended. */
  add(calls: readonly Call[], outcomes: readonly (Outcome | undefined)[]): void {
    const key = keyOf(calls);
    this.#sameCalls = key === this.#batches.at(-1)?.calls ? this.#sameCalls + 1 : 1;
    const results = JSON.stringify(outcomes.map((outcome) => [outcome?.status, outcome?.content]));
    this.#batches.push({ calls: key, results: digestOf(results) });
    if (this.#batches.length > longestCycle * maxSameResults) this.#batches.shift();
  }

  /** Starts over: the person has spoken, or wants the model to continue. */
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

const keyOf = (calls: readonly Call[]): string =>
  digestOf(JSON.stringify(calls.map(({ tool, input }) => [tool, input.type === "parsed" ? input.value : input.text])));

const digestOf = (text: string): string => hashToHex(extendHash(emptyHash, text));

/** Text is compared each time so many characters have come, so how an answer is cut into pieces makes no difference. */
const stride = 1000;

/** Where repetition is looked for: in the last `length` characters, every `every` characters. */
const windows = [
  { length: 8000, every: stride },
  { length: 32_000, every: 4 * stride },
] as const;

/** A period that recurs at least so often in a window is a repetition. */
const minRepeats = 8;

/**
 * The characters of exact repetition that stop an answer. Tables, boards and matrices of equal cells are common in
 * files that a model writes; equal sentences are not.
 */
const maxRepeatedProse = 12_000;
const maxRepeatedOther = 64_000;

/**
 * Notices when an answer repeats one piece of text exactly, over thousands of characters. Text that changes in any
 * way from one repeat to the next (a number, a name) is progress and never counts.
 */
export class RepeatedTextDetector {
  #recent = "";
  #pending = "";
  #length = 0;
  readonly #repeated: number[] = windows.map(() => 0);

  /** Takes more text; true when it has only repeated itself for long. */
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

/** The shortest period of a text, up to `longest`; undefined where it has none. The failure function of Knuth, Morris and Pratt. */
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

/** Whether a piece reads as a sentence: mostly letters and spaces, and more than a word or two. */
const isProse = (piece: string): boolean => {
  const letters = piece.match(/\p{L}/gu) ?? [];
  const spaces = piece.match(/\s/g) ?? [];
  if (letters.length + spaces.length < 0.8 * Array.from(piece).length) return false;
  const words = `${piece}${piece}`.match(/\p{L}+/gu) ?? [];
  return new Set(words).size >= 3 || new Set(letters).size >= 10;
};
