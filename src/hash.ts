/*
 * The 64-bit hashes of the program: two independent 32-bit FNV-style lanes over UTF-16 code units, the same in every
 * process and without Node. Not cryptographic: they guard against accidents, not against attacks, so compare the hashed
 * text itself where a collision could be constructed. Hash values are stored (names of files, request prefixes in session
 * logs, tool aliases in sent prompts): never change a constant.
 */

/** A hash that can be extended text by text. */
export type RunningHash = { readonly high: number; readonly low: number };

/** The running hash of nothing. */
export const emptyHash: RunningHash = { high: 0x811c9dc5, low: 0x1b873593 };

/** Returns the running hash after one more text. The boundaries between texts count. */
export const extendHash = (hash: RunningHash, text: string): RunningHash => {
  const { high, low } = mix(hash, text, 0x85ebca6b, 13);
  return { high: Math.imul(high ^ text.length, 0x01000193), low: Math.imul(low ^ text.length, 0xc2b2ae35) };
};

/** Returns a running hash as sixteen hex digits. */
export const hashToHex = ({ high, low }: RunningHash): string => toHex(high) + toHex(low);

/** Hashes one text as sixteen hex digits, for names of files. */
export const fingerprint = (text: string): string => {
  const { high, low } = mix({ high: 0x9e3779b9, low: 0x85ebca6b }, text, 0x5bd1e995, 15);
  return [high ^ (low >>> 16), low ^ (high >>> 13)].map((lane) => toHex(Math.imul(lane, 0xc2b2ae35))).join("");
};

const mix = ({ high, low }: RunningHash, text: string, multiplier: number, shift: number): RunningHash => {
  let one = high;
  let two = low;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, multiplier) ^ (two >>> shift);
  }
  return { high: one, low: two };
};

const toHex = (lane: number): string => (lane >>> 0).toString(16).padStart(8, "0");
