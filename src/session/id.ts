/** Without letters people mistake for digits or for each other. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 7;
const chanceDigits = 3;

/** Ids count thirty-seconds of a second from the beginning of 2025. Seven digits last until 2059. */
const epoch = Date.UTC(2025, 0, 1);
const step = 1000 / 32;

/** A session's id: ten characters that sort by time. */
export const newId = (now: number, random: () => number): string =>
  digits(Math.max(0, Math.floor((now - epoch) / step)), timeDigits) +
  digits(Math.floor(random() * 32 ** chanceDigits), chanceDigits);

/** When an id was made, to within a few hundredths of a second; 0 for what is no id of ours. */
export const timeOf = (id: string): number =>
  isId(id)
    ? epoch + Array.from(id.slice(0, timeDigits)).reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0) * step
    : 0;

/** Whether a word is a session's id. */
const isId = (id: string): boolean =>
  id.length === timeDigits + chanceDigits && Array.from(id).every((digit) => alphabet.includes(digit));

const digits = (number: number, count: number): string =>
  Array.from(
    { length: count },
    (_, index) => alphabet[Math.floor(number / 32 ** (count - 1 - index)) % 32] ?? "0",
  ).join("");
