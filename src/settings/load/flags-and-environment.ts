import type { Environment } from "../../world/world.ts";
import { checkValue, hasNoErrors, formatIssue } from "../schema/check.ts";
import { SettingsError } from "../error.ts";
import { settingsTable, settingPaths, type Setting } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";
import { parseCliValue } from "./parse-cli-value.ts";

/** Command-line flags by name, without dashes. `true` is a flag without a value. */
export type CommandLineFlags = { readonly [flag: string]: string | true | readonly string[] | undefined };

/** Returns the settings that command-line flags set. Throws a `SettingsError` that names the flag. */
export const parseFlagSettings = async (flags: CommandLineFlags): Promise<PartialSettings> => {
  const found: { [path: string]: unknown } = {};
  for (const path of settingPaths) {
    const { flag }: Setting = settingsTable[path];
    const value = flag === undefined ? undefined : flags[flag];
    if (flag !== undefined && value !== undefined)
      found[path] = await parseAndCheck(path, `--${flag}`, value === true ? "true" : value);
  }
  return found as PartialSettings;
};

/**
 * Returns the settings that environment variables set, and the variables' names: those that take precedence over files
 * (`above`), or those that files override (`below`).
 */
export const parseEnvironmentSettings = async (
  env: Environment,
  rank: "above" | "below",
): Promise<{ readonly values: PartialSettings; readonly names: { readonly [Path in SettingPath]?: string } }> => {
  const values: { [path: string]: unknown } = {};
  const names: { [path: string]: string } = {};
  for (const path of settingPaths) {
    const { variables = [], fallbacks = [] }: Setting = settingsTable[path];
    const name = (rank === "above" ? variables : fallbacks).find((each) => (env[each] ?? "").trim() !== "");
    if (name === undefined) continue;
    names[path] = name;
    values[path] = await parseAndCheck(path, name, env[name]?.trim() ?? "");
  }
  return { values: values as PartialSettings, names };
};

/** Parses the arguments of a flag or variable. A repeated flag appends to a list. */
const parseAndCheck = async (
  path: SettingPath,
  name: string,
  argument: string | readonly string[],
): Promise<unknown> => {
  const { shape } = settingsTable[path];
  const list = typeof argument === "string" ? [argument] : argument;
  const values = await Promise.all(list.map((each) => parseCliValue(shape, each)));
  const value = shape.type === "list" ? values.flat() : values.at(-1);
  const issues = checkValue(shape, value, [name]);
  if (hasNoErrors(issues)) return value;
  const [first] = issues.filter(({ level }) => level === "error");
  throw new SettingsError({
    kind: "refused",
    ...(name.startsWith("--") ? { flag: name } : {}),
    message: first === undefined ? `${name} is invalid.` : formatIssue(first),
  });
};
