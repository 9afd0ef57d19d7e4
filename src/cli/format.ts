import type { Arguments } from "./parse-arguments.ts";
import { usageError } from "./user-error.ts";

/** The id a person gave, and that there is nothing after it. */
export const sessionIdFrom = ({ positionals: [action = "", id, extra] }: Arguments): string => {
  if (id === undefined) throw usageError(`Say which: parley sessions ${action} ID.`);
  if (extra !== undefined) throw usageError(`sessions ${action} does not know what to do with "${extra}".`);
  return id;
};

/** A number of things, from 1. */
export const countOption = (given: Arguments, option: string): number | undefined => {
  const text = given.value(option);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw usageError(`--${option} is a whole number of at least 1; it was given as "${text}".`);
  return count;
};

/** A time as people here write it, to the minute. */
export const formatTime = (time: number): string => {
  const date = new Date(time);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

/** So many of something. */
export const pluralize = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** One JSON value, on stdout. */
export const printJson = (value: unknown): number => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
};
