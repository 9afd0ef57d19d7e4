/** Without letters people mistake for digits or for each other. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 7;
const randomDigits = 3;

/** Ids count thirty-seconds of a second from the beginning of 2025. Seven digits last until 2059. */
const epoch = Date.UTC(2025, 0, 1);
const tickMs = 1000 / 32;

/** A session's id: ten characters that sort by time. */
export const createSessionId = (now: number, random: () => number): string =>
  toBase32(Math.max(0, Math.floor((now - epoch) / tickMs)), timeDigits) +
  toBase32(Math.floor(random() * 32 ** randomDigits), randomDigits);

/** When an id was made, to within a few hundredths of a second; 0 for what is no id of ours. */
export const readIdTime = (id: string): number =>
  isSessionId(id)
    ? epoch + Array.from(id.slice(0, timeDigits)).reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0) * tickMs
    : 0;

/** Whether a word is a session's id. */
const isSessionId = (id: string): boolean =>
  id.length === timeDigits + randomDigits && Array.from(id).every((digit) => alphabet.includes(digit));

const toBase32 = (number: number, count: number): string =>
  Array.from(
    { length: count },
    (_, index) => alphabet[Math.floor(number / 32 ** (count - 1 - index)) % 32] ?? "0",
  ).join("");
