import type { Environment } from "../world/world.ts";
import { findingsIn, isFree, sentenceOf } from "./check.ts";
import { SettingsError } from "./error.ts";
import { table, settingPaths, type Setting } from "./table.ts";
import type { SettingPath, SomeSettings } from "./values.ts";
import { valueOfWord } from "./word.ts";

/** Options of the command line as they were given, by name without dashes. `true` is one without a value. */
export type Flags = { readonly [flag: string]: string | true | readonly string[] | undefined };

/** What the command line sets. Throws a `SettingsError` that names the option. */
export const settingsOfFlags = (flags: Flags): SomeSettings => {
  const found = settingPaths.flatMap((path) => {
    const { flag }: Setting = table[path];
    const given = flag === undefined ? undefined : flags[flag];
    if (flag === undefined || given === undefined) return [];
    return [[path, checked(path, `--${flag}`, given === true ? "true" : given)] as const];
  });
  return Object.fromEntries(found) as SomeSettings;
};

/** What variables set, and which. Those that count `below` files are apart from those that count above them. */
export const settingsOfVariables = (
  env: Environment,
  rank: "above" | "below",
): { readonly values: SomeSettings; readonly names: { readonly [Path in SettingPath]?: string } } => {
  const found = settingPaths.flatMap((path) => {
    const { variables = [], fallbacks = [] }: Setting = table[path];
    const name = (rank === "above" ? variables : fallbacks).find((each) => (env[each] ?? "").trim() !== "");
    return name === undefined ? [] : [{ path, name, value: checked(path, name, env[name]?.trim() ?? "") }];
  });
  return {
    values: Object.fromEntries(found.map(({ path, value }) => [path, value])) as SomeSettings,
    names: Object.fromEntries(found.map(({ path, name }) => [path, name])),
  };
};

/** An option that is given several times adds to a list. */
const checked = (path: SettingPath, name: string, given: string | readonly string[]): unknown => {
  const { shape } = table[path];
  const words = typeof given === "string" ? [given] : given;
  const values = words.map((word) => valueOfWord(shape, word));
  const value = shape.type === "list" ? values.flat() : values.at(-1);
  const findings = findingsIn(shape, value, [name]);
  if (isFree(findings)) return value;
  const [first] = findings.filter(({ level }) => level === "error");
  throw new SettingsError({
    kind: "refused",
    message: first === undefined ? `${name} does not fit.` : sentenceOf(first),
  });
};
