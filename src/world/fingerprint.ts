/**
 * A 64-bit hash of a text as sixteen hex digits, the same in every process. Not cryptographic: two texts with the same
 * hash can be constructed, so the stored text is compared before a hit is used.
 */
export const fingerprint = (text: string): string => {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995) ^ (low >>> 15);
  }
  return [high ^ (low >>> 16), low ^ (high >>> 13)].map(hex).join("");
};

const hex = (number: number): string => (Math.imul(number, 0xc2b2ae35) >>> 0).toString(16).padStart(8, "0");
