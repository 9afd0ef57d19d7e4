/** A running digest: same values in the same order, same digest, in every process. */
export type RunningHash = { readonly high: number; readonly low: number };

/** The digest of nothing. */
export const emptyHash: RunningHash = { high: 0x811c9dc5, low: 0x1b873593 };

/** The digest after one more text. Two independent 32-bit hashes; against accident, not against attack. */
export const extendHash = ({ high, low }: RunningHash, text: string): RunningHash => {
  let one = high;
  let two = low;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b) ^ (two >>> 13);
  }
  return { high: Math.imul(one ^ text.length, 0x01000193), low: Math.imul(two ^ text.length, 0xc2b2ae35) };
};

/** A digest as sixteen hex digits. */
export const hashToHex = ({ high, low }: RunningHash): string =>
  (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
