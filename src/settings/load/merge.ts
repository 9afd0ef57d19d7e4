import { settingPaths, settingsTable } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";

/** Where a value comes from. `where` is the file, the option or the variable. */
export type SettingSource = {
  readonly from: "default" | "gemini" | "person" | "environment" | "line" | "project" | "untrusted";
  readonly where?: string;
};

/** What one place says. */
export type SettingsLayer = {
  readonly values: PartialSettings;
  readonly sourceOf: (path: SettingPath) => SettingSource;
};

/** Where every value comes from that is there. */
export type SettingSources = { readonly [Path in SettingPath]?: readonly SettingSource[] };

/** Settings as several places say them, the nearest last. */
export const mergeLayers = (
  layers: readonly SettingsLayer[],
): { readonly values: PartialSettings; readonly sources: SettingSources } => {
  const speaking = layers.filter(({ values }) => Object.keys(values).length > 0);
  const [only, other] = speaking;
  if (only !== undefined && other === undefined) return { values: only.values, sources: listSources(only) };
  const found = settingPaths.flatMap((path) => {
    const saying = speaking.filter(({ values }) => values[path] !== undefined);
    if (saying.length === 0) return [];
    const counting = selectLayers(path, saying);
    const value = counting
      .map(({ values }) => values[path] as unknown)
      .reduce((one, other) => combineValues(path, one, other));
    return [{ path, value, sources: counting.map(({ sourceOf }) => sourceOf(path)) }];
  });
  return {
    values: Object.fromEntries(found.map(({ path, value }) => [path, value])) as PartialSettings,
    sources: Object.fromEntries(found.map(({ path, sources }) => [path, sources])),
  };
};

const listSources = ({ values, sourceOf }: SettingsLayer): SettingSources =>
  Object.fromEntries(Object.keys(values).map((path) => [path, [sourceOf(path as SettingPath)]]));

/** Those whose word is heard: the nearest, or all that add something. */
const selectLayers = (path: SettingPath, saying: readonly SettingsLayer[]): readonly SettingsLayer[] => {
  if (settingsTable[path].merge === undefined) return saying.slice(-1);
  const adding = saying.filter(({ values }) => Object.keys(values[path] ?? {}).length > 0);
  return adding.length === 0 ? saying.slice(-1) : adding;
};

const combineValues = (path: SettingPath, one: unknown, other: unknown): unknown =>
  settingsTable[path].merge === "append"
    ? [...new Set([...(one as readonly string[]), ...(other as readonly string[])])]
    : { ...(one as object), ...(other as object) };
