import type { Server } from "../settings/values.ts";
import type { Arguments } from "./arguments.ts";
import { misused } from "./failure.ts";

/** The server a person described on the command line. */
export const serverIn = (given: Arguments): Server => {
  const [, , what, ...args] = given.words;
  if (what === undefined) throw misused("Say what to start or to ask: parley mcp add NAME -- COMMAND, or NAME URL.");
  const timeout = timeoutOf(given.value("timeout"));
  const [include, exclude] = [namesIn(given, "include-tools"), namesIn(given, "exclude-tools")];
  return {
    ...(isAddress(what) ? addressOf(given, what, args) : programOf(given, what, args)),
    ...(timeout === undefined ? {} : { timeout }),
    ...(given.has("trust") ? { trust: true } : {}),
    ...(include === undefined ? {} : { includeTools: include }),
    ...(exclude === undefined ? {} : { excludeTools: exclude }),
  };
};

const isAddress = (word: string): boolean => /^https?:\/\//i.test(word);

const addressOf = (given: Arguments, url: string, extra: readonly string[]): Server => {
  if (extra.length > 0) throw misused(`mcp add does not know what to do with "${extra[0]}" after an address.`);
  if (given.has("env")) throw misused("--env is for programs; an address takes --header.");
  const headers = pairsIn(given.values("header"), "header", ":");
  const kind = given.value("transport");
  return {
    ...(kind === "http" ? { httpUrl: url } : { url }),
    ...(kind === "sse" ? { type: "sse" } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
};

const programOf = (given: Arguments, command: string, args: readonly string[]): Server => {
  if (given.has("header") || given.has("transport")) throw misused("--header and --transport are for addresses.");
  const env = pairsIn(given.values("env"), "env", "=");
  return { command, ...(args.length === 0 ? {} : { args }), ...(Object.keys(env).length === 0 ? {} : { env }) };
};

const pairsIn = (texts: readonly string[], option: string, mark: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at < 1) throw misused(`--${option} is a name and a value with ${mark} between; it was given as "${text}".`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );

const namesIn = (given: Arguments, option: string): readonly string[] | undefined =>
  given
    .value(option)
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const timeoutOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const timeout = Number(text);
  if (!Number.isSafeInteger(timeout) || timeout < 1)
    throw misused(`--timeout is a whole number of milliseconds; it was given as "${text}".`);
  return timeout;
};
