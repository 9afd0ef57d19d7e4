import type { McpServerSettings } from "../../settings/schema/values.ts";
import type { Arguments } from "../command.ts";
import { usageError } from "../user-error.ts";

/** Parses the server described on the command line. */
export const parseServerArguments = (args: Arguments): McpServerSettings => {
  const [, , what, ...rest] = args.positionals;
  if (what === undefined)
    throw usageError("Missing command or URL: parley mcp add NAME -- COMMAND, or parley mcp add NAME URL.");
  const timeout = parseTimeout(args.value("timeout"));
  const [include, exclude] = [parseNames(args, "include-tools"), parseNames(args, "exclude-tools")];
  return {
    ...(isUrl(what) ? remoteServer(args, what, rest) : localServer(args, what, rest)),
    ...(timeout === undefined ? {} : { timeout }),
    ...(args.has("trust") ? { trust: true } : {}),
    ...(include === undefined ? {} : { includeTools: include }),
    ...(exclude === undefined ? {} : { excludeTools: exclude }),
  };
};

const isUrl = (word: string): boolean => /^https?:\/\//i.test(word);

const remoteServer = (args: Arguments, url: string, extra: readonly string[]): McpServerSettings => {
  if (extra.length > 0) throw usageError(`Unexpected argument "${extra[0]}" after the URL.`);
  if (args.has("env")) throw usageError("--env is for commands; use --header for a URL.");
  const headers = parsePairs(args.values("header"), "header", ":");
  const kind = args.value("transport");
  return {
    ...(kind === "http" ? { httpUrl: url } : { url }),
    ...(kind === "sse" ? { type: "sse" } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
};

const localServer = (args: Arguments, command: string, commandArgs: readonly string[]): McpServerSettings => {
  if (args.has("header") || args.has("transport")) throw usageError("--header and --transport are for URLs.");
  const env = parsePairs(args.values("env"), "env", "=");
  return {
    command,
    ...(commandArgs.length === 0 ? {} : { args: commandArgs }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
};

const parsePairs = (texts: readonly string[], option: string, mark: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at < 1) throw usageError(`--${option} must be NAME${mark}VALUE, not "${text}".`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );

const parseNames = (args: Arguments, option: string): readonly string[] | undefined =>
  args
    .value(option)
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const parseTimeout = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const timeout = Number(text);
  if (!Number.isSafeInteger(timeout) || timeout < 1)
    throw usageError(`--timeout must be a whole number of milliseconds, not "${text}".`);
  return timeout;
};
