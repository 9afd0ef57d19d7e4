/** Base 32 without letters that look like digits or each other. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 7;
const randomDigits = 3;

/** Ids count 1/32 seconds since the start of 2025. Seven digits last until 2059. */
const epoch = Date.UTC(2025, 0, 1);
const tickMs = 1000 / 32;

/** Creates a session id: ten characters that sort by time. */
export const createSessionId = (now: number, random: () => number): string =>
  toBase32(Math.max(0, Math.floor((now - epoch) / tickMs)), timeDigits) +
  toBase32(Math.floor(random() * 32 ** randomDigits), randomDigits);

/** Returns the time an id was created, in milliseconds since 1970, to within 1/32 second; 0 if it is not a session id. */
export const readIdTime = (id: string): number =>
  isSessionId(id)
    ? epoch + Array.from(id.slice(0, timeDigits)).reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0) * tickMs
    : 0;

const isSessionId = (id: string): boolean =>
  id.length === timeDigits + randomDigits && Array.from(id).every((digit) => alphabet.includes(digit));

const toBase32 = (number: number, count: number): string =>
  Array.from(
    { length: count },
    (_, index) => alphabet[Math.floor(number / 32 ** (count - 1 - index)) % 32] ?? "0",
  ).join("");
