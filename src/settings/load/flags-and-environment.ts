import type { Environment } from "../../world/world.ts";
import { checkValue, hasNoErrors, formatIssue } from "../schema/check.ts";
import { SettingsError } from "../error.ts";
import { settingsTable, settingPaths, type Setting } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";
import { parseCliValue } from "./parse-cli-value.ts";

/** Options of the command line as they were given, by name without dashes. `true` is one without a value. */
export type CommandLineFlags = { readonly [flag: string]: string | true | readonly string[] | undefined };

/** What the command line sets. Throws a `SettingsError` that names the option. */
export const parseFlagSettings = (flags: CommandLineFlags): PartialSettings => {
  const found = settingPaths.flatMap((path) => {
    const { flag }: Setting = settingsTable[path];
    const given = flag === undefined ? undefined : flags[flag];
    if (flag === undefined || given === undefined) return [];
    return [[path, parseAndCheck(path, `--${flag}`, given === true ? "true" : given)] as const];
  });
  return Object.fromEntries(found) as PartialSettings;
};

/** What variables set, and which. Those that count `below` files are apart from those that count above them. */
export const parseEnvironmentSettings = (
  env: Environment,
  rank: "above" | "below",
): { readonly values: PartialSettings; readonly names: { readonly [Path in SettingPath]?: string } } => {
  const found = settingPaths.flatMap((path) => {
    const { variables = [], fallbacks = [] }: Setting = settingsTable[path];
    const name = (rank === "above" ? variables : fallbacks).find((each) => (env[each] ?? "").trim() !== "");
    return name === undefined ? [] : [{ path, name, value: parseAndCheck(path, name, env[name]?.trim() ?? "") }];
  });
  return {
    values: Object.fromEntries(found.map(({ path, value }) => [path, value])) as PartialSettings,
    names: Object.fromEntries(found.map(({ path, name }) => [path, name])),
  };
};

/** An option that is given several times adds to a list. */
const parseAndCheck = (path: SettingPath, name: string, given: string | readonly string[]): unknown => {
  const { shape } = settingsTable[path];
  const words = typeof given === "string" ? [given] : given;
  const values = words.map((word) => parseCliValue(shape, word));
  const value = shape.type === "list" ? values.flat() : values.at(-1);
  const findings = checkValue(shape, value, [name]);
  if (hasNoErrors(findings)) return value;
  const [first] = findings.filter(({ level }) => level === "error");
  throw new SettingsError({
    kind: "refused",
    message: first === undefined ? `${name} does not fit.` : formatIssue(first),
  });
};
