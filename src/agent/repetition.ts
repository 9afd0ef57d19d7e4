import type { Call } from "../conversation/index.ts";

/** So many times the same calls in a row, and nothing new will come of them. */
const mostCalls = 5;

/** So many times the same piece of text in one answer. */
const mostPieces = 10;
const pieceLength = 50;
const mostRemembered = 5000;

/** Notices when a model makes the same calls again and again. */
export class RepeatedCalls {
  #last = "";
  #count = 0;

  /** Takes the calls of an answer; true when they have come too often. */
  add(calls: readonly Call[]): boolean {
    const key = JSON.stringify(
      calls.map(({ tool, input }) => [tool, input.type === "parsed" ? input.value : input.text]),
    );
    this.#count = key === this.#last ? this.#count + 1 : 1;
    this.#last = key;
    return this.#count >= mostCalls;
  }

  /** The person has spoken: whatever was said before may be asked for again. */
  forget(): void {
    this.#last = "";
    this.#count = 0;
  }
}

/**
 * Notices when an answer says the same piece of text over and over, close together.
 * Lines of code and of tables look alike, so what stands in a fence or a table does not count.
 */
export class RepeatedText {
  readonly #seen = new Map<string, number[]>();
  #tail = "";
  #at = 0;

  /** Takes more text; true when it goes in circles. */
  add(text: string): boolean {
    this.#tail += text;
    if (/```|~~~|^\s*\||^\s*[-+*] /m.test(text)) {
      this.#seen.clear();
      this.#tail = "";
      return false;
    }
    while (this.#tail.length >= pieceLength) {
      const piece = this.#tail.slice(0, pieceLength);
      this.#tail = this.#tail.slice(1);
      this.#at += 1;
      if (this.#circles(piece)) return true;
    }
    // A circle begun before is found again soon; what is remembered stays small.
    if (this.#seen.size > mostRemembered) this.#seen.clear();
    return false;
  }

  /** The same piece, again and again, never far from the last time. */
  #circles(piece: string): boolean {
    const places = this.#seen.get(piece) ?? [];
    places.push(this.#at);
    if (places.length === 1) this.#seen.set(piece, places);
    if (places.length > mostPieces) places.shift();
    if (places.length < mostPieces) return false;
    return this.#at - (places[0] ?? 0) <= 1.5 * pieceLength * (mostPieces - 1) && new Set(piece).size > 3;
  }
}
