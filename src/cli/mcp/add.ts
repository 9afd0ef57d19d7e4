import type { McpServerSettings } from "../../settings/schema/values.ts";
import type { Arguments } from "../parse-arguments.ts";
import { usageError } from "../user-error.ts";

/** The server a person described on the command line. */
export const parseServerArguments = (given: Arguments): McpServerSettings => {
  const [, , what, ...args] = given.positionals;
  if (what === undefined) throw usageError("Say what to start or to ask: parley mcp add NAME -- COMMAND, or NAME URL.");
  const timeout = parseTimeout(given.value("timeout"));
  const [include, exclude] = [parseNames(given, "include-tools"), parseNames(given, "exclude-tools")];
  return {
    ...(isUrl(what) ? remoteServer(given, what, args) : localServer(given, what, args)),
    ...(timeout === undefined ? {} : { timeout }),
    ...(given.has("trust") ? { trust: true } : {}),
    ...(include === undefined ? {} : { includeTools: include }),
    ...(exclude === undefined ? {} : { excludeTools: exclude }),
  };
};

const isUrl = (word: string): boolean => /^https?:\/\//i.test(word);

const remoteServer = (given: Arguments, url: string, extra: readonly string[]): McpServerSettings => {
  if (extra.length > 0) throw usageError(`mcp add does not know what to do with "${extra[0]}" after an address.`);
  if (given.has("env")) throw usageError("--env is for programs; an address takes --header.");
  const headers = parsePairs(given.values("header"), "header", ":");
  const kind = given.value("transport");
  return {
    ...(kind === "http" ? { httpUrl: url } : { url }),
    ...(kind === "sse" ? { type: "sse" } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
};

const localServer = (given: Arguments, command: string, args: readonly string[]): McpServerSettings => {
  if (given.has("header") || given.has("transport")) throw usageError("--header and --transport are for addresses.");
  const env = parsePairs(given.values("env"), "env", "=");
  return { command, ...(args.length === 0 ? {} : { args }), ...(Object.keys(env).length === 0 ? {} : { env }) };
};

const parsePairs = (texts: readonly string[], option: string, mark: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at < 1)
        throw usageError(`--${option} is a name and a value with ${mark} between; it was given as "${text}".`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );

const parseNames = (given: Arguments, option: string): readonly string[] | undefined =>
  given
    .value(option)
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const parseTimeout = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const timeout = Number(text);
  if (!Number.isSafeInteger(timeout) || timeout < 1)
    throw usageError(`--timeout is a whole number of milliseconds; it was given as "${text}".`);
  return timeout;
};
