/*
 * SHA-256 of short texts without node:crypto, whose loading takes a twentieth of the time to the first request. For
 * anything longer than a name or a key, node:crypto is faster.
 */

/** Hashes a text as 64 hex digits. */
export const sha256 = (text: string): string => {
  const words = padMessage(Buffer.from(text));
  const state = Uint32Array.from(primes.slice(0, 8), (prime) => fractionBits(Math.sqrt(prime)));
  for (let at = 0; at < words.length; at += 16) compress(state, words.subarray(at, at + 16));
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
};

/** Appends a one bit, zeros, and the length in bits, up to whole blocks of sixteen words. */
const padMessage = (bytes: Uint8Array): Uint32Array => {
  const words = new Uint32Array(16 * Math.ceil((bytes.length + 9) / 64));
  for (const [at, byte] of [...bytes, 0x80].entries()) words[at >> 2]! |= byte << (24 - 8 * (at % 4));
  words[words.length - 1] = 8 * bytes.length;
  return words;
};

/** Mixes one block into the state. The letters are those of the standard (FIPS 180-4). */
const compress = (state: Uint32Array, block: Uint32Array): void => {
  const schedule = new Uint32Array(64);
  schedule.set(block);
  for (let t = 16; t < 64; t++) {
    const [early, late] = [schedule[t - 15]!, schedule[t - 2]!];
    const sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[t] = schedule[t - 16]! + sigma0 + schedule[t - 7]! + sigma1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = h + sum1 + ((e & f) ^ (~e & g)) + roundConstants[t]! + schedule[t]!;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at]! += word;
};

const rotate = (word: number, count: number): number => (word >>> count) | (word << (32 - count));

/** The first 32 bits of the fraction of a number. */
const fractionBits = (value: number): number => Math.floor((value % 1) * 2 ** 32);

const listPrimes = (count: number): readonly number[] => {
  const found: number[] = [];
  for (let value = 2; found.length < count; value++) if (!found.some((prime) => value % prime === 0)) found.push(value);
  return found;
};

const primes = listPrimes(64);

const roundConstants = Uint32Array.from(primes, (prime) => fractionBits(Math.cbrt(prime)));
