/*
 * The part of node:crypto and Buffer that rendering uses, for the browser: SHA-256 of a text or of base64. A browser has
 * SHA-256 only as a promise, and rendering is synchronous.
 */

/** Creates a SHA-256 hash. */
export const createHash = (_name: "sha256"): Hash => new Hash();

class Hash {
  #bytes: Uint8Array = new Uint8Array();

  update(text: string, encoding: "utf8" | "base64" = "utf8"): this {
    this.#bytes = encoding === "base64" ? fromBase64(text) : new TextEncoder().encode(text);
    return this;
  }

  digest(_encoding: "hex"): string {
    return sha256(this.#bytes);
  }
}

/** Bytes that can be written as text. */
class BrowserBuffer extends Uint8Array {
  override toString(encoding: "utf8" | "latin1" | "base64" = "utf8"): string {
    if (encoding === "utf8") return new TextDecoder().decode(this);
    const latin = Array.from(this, (byte) => String.fromCharCode(byte)).join("");
    return encoding === "base64" ? btoa(latin) : latin;
  }
}

/** Stands in for Node's Buffer. */
export const Buffer: {
  readonly from: (data: string | Uint8Array, encoding?: "utf8" | "latin1" | "base64") => BrowserBuffer;
  readonly byteLength: (text: string) => number;
} = {
  from: (data, encoding = "utf8") => {
    if (typeof data !== "string") return BrowserBuffer.from(data) as BrowserBuffer;
    if (encoding === "base64") return BrowserBuffer.from(fromBase64(data)) as BrowserBuffer;
    if (encoding === "latin1") return BrowserBuffer.from(data, (character) => character.charCodeAt(0)) as BrowserBuffer;
    return BrowserBuffer.from(new TextEncoder().encode(data)) as BrowserBuffer;
  },
  byteLength: (text) => new TextEncoder().encode(text).length,
};

/** Reads either alphabet, padded or not, and skips what is no base64, as Node does. */
const fromBase64 = (text: string): Uint8Array => {
  const clean = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replaceAll(/[^A-Za-z0-9+/]/g, "");
  const whole = clean.length % 4 === 1 ? clean.slice(0, -1) : clean;
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
};

const sha256 = (bytes: Uint8Array): string => {
  const [constants, state] = roundConstants();
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const words = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) mixBlock(state, constants, words, view, start);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
};

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

const mixBlock = (
  state: Uint32Array,
  constants: Uint32Array,
  words: Uint32Array,
  view: DataView,
  start: number,
): void => {
  for (let at = 0; at < 64; at += 1) {
    if (at < 16) {
      words[at] = view.getUint32(start + at * 4);
      continue;
    }
    const [before, after] = [words[at - 15]!, words[at - 2]!];
    const small = rotate(before, 7) ^ rotate(before, 18) ^ (before >>> 3);
    const large = rotate(after, 17) ^ rotate(after, 19) ^ (after >>> 10);
    words[at] = words[at - 16]! + small + words[at - 7]! + large;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let at = 0; at < 64; at += 1) {
    const high = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + high + ((e & f) ^ (~e & g)) + constants[at]! + words[at]!) | 0;
    const low = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = state[at]! + word;
};

/** The standard's constants: fractions of the roots of the first primes. */
const roundConstants = (): [constants: Uint32Array, state: Uint32Array] => {
  const [constants, state] = [new Uint32Array(64), new Uint32Array(8)];
  let count = 0;
  for (let number = 2; count < 64; number += 1) {
    if (!isPrime(number)) continue;
    constants[count] = (Math.cbrt(number) % 1) * 2 ** 32;
    if (count < 8) state[count] = (Math.sqrt(number) % 1) * 2 ** 32;
    count += 1;
  }
  return [constants, state];
};

const isPrime = (number: number): boolean => {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
};
