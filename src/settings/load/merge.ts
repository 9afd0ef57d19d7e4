import { settingPaths, settingsTable } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";

/** The source of a value. `where` is the file, the flag or the variable. */
export type SettingSource = {
  readonly from: "default" | "gemini" | "user" | "environment" | "flag" | "project" | "untrusted";
  readonly where?: string;
};

/** The settings of one source. */
export type SettingsLayer = {
  readonly values: PartialSettings;
  readonly sourceOf: (path: SettingPath) => SettingSource;
};

/** The sources of every value. */
export type SettingSources = { readonly [Path in SettingPath]?: readonly SettingSource[] };

/** Merges layers of settings; later layers take precedence. */
export const mergeLayers = (
  layers: readonly SettingsLayer[],
): { readonly values: PartialSettings; readonly sources: SettingSources } => {
  const nonEmpty = layers.filter(({ values }) => Object.keys(values).length > 0);
  const [only, other] = nonEmpty;
  if (only !== undefined && other === undefined) return { values: only.values, sources: listSources(only) };
  const found = settingPaths.flatMap((path) => {
    const defining = nonEmpty.filter(({ values }) => values[path] !== undefined);
    if (defining.length === 0) return [];
    const contributing = selectLayers(path, defining);
    const value = contributing
      .map(({ values }) => values[path] as unknown)
      .reduce((one, other) => combineValues(path, one, other));
    return [{ path, value, sources: contributing.map(({ sourceOf }) => sourceOf(path)) }];
  });
  return {
    values: Object.fromEntries(found.map(({ path, value }) => [path, value])) as PartialSettings,
    sources: Object.fromEntries(found.map(({ path, sources }) => [path, sources])),
  };
};

const listSources = ({ values, sourceOf }: SettingsLayer): SettingSources =>
  Object.fromEntries(Object.keys(values).map((path) => [path, [sourceOf(path as SettingPath)]]));

/** Selects the layers that contribute to a value: the last, or all with entries if the setting is merged. */
const selectLayers = (path: SettingPath, defining: readonly SettingsLayer[]): readonly SettingsLayer[] => {
  if (settingsTable[path].merge === undefined) return defining.slice(-1);
  const withEntries = defining.filter(({ values }) => Object.keys(values[path] ?? {}).length > 0);
  return withEntries.length === 0 ? defining.slice(-1) : withEntries;
};

const combineValues = (path: SettingPath, one: unknown, other: unknown): unknown =>
  settingsTable[path].merge === "append"
    ? [...new Set([...(one as readonly string[]), ...(other as readonly string[])])]
    : { ...(one as object), ...(other as object) };
