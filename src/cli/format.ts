import type { Arguments } from "./command.ts";
import { usageError } from "./user-error.ts";

/** Returns the session id argument. Throws if it is missing or followed by another argument. */
export const sessionIdFrom = ({ positionals: [action = "", id, extra] }: Arguments): string => {
  if (id === undefined) throw usageError(`Missing argument ID: parley sessions ${action} ID.`);
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for sessions ${action}.`);
  return id;
};

/** Returns the value of an option that is a count of at least 1. */
export const countOption = (args: Arguments, option: string): number | undefined => {
  const text = args.value(option);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw usageError(`--${option} must be a whole number of at least 1, not "${text}".`);
  return count;
};

/** Formats a time as local `YYYY-MM-DD HH:MM`. */
export const formatTime = (time: number): string => {
  const date = new Date(time);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

/** Formats a count with its noun, with an "s" unless it is 1. */
export const pluralize = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** Prints a JSON value to stdout. Returns exit code 0. */
export const printJson = (value: unknown): number => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
};
