import { settingPaths, table } from "./table.ts";
import type { SettingPath, SomeSettings } from "./values.ts";

/** Where a value comes from. `where` is the file, the option or the variable. */
export type Source = {
  readonly from: "default" | "gemini" | "person" | "environment" | "line" | "project" | "untrusted";
  readonly where?: string;
};

/** What one place says. */
export type Layer = { readonly values: SomeSettings; readonly sourceOf: (path: SettingPath) => Source };

/** Where every value comes from that is there. */
export type Sources = { readonly [Path in SettingPath]?: readonly Source[] };

/** Settings as several places say them, the nearest last. */
export const merged = (layers: readonly Layer[]): { readonly values: SomeSettings; readonly sources: Sources } => {
  const speaking = layers.filter(({ values }) => Object.keys(values).length > 0);
  const [only, other] = speaking;
  if (only !== undefined && other === undefined) return { values: only.values, sources: sourcesOf(only) };
  const found = settingPaths.flatMap((path) => {
    const saying = speaking.filter(({ values }) => values[path] !== undefined);
    if (saying.length === 0) return [];
    const counting = contributors(path, saying);
    const value = counting
      .map(({ values }) => values[path] as unknown)
      .reduce((one, other) => together(path, one, other));
    return [{ path, value, sources: counting.map(({ sourceOf }) => sourceOf(path)) }];
  });
  return {
    values: Object.fromEntries(found.map(({ path, value }) => [path, value])) as SomeSettings,
    sources: Object.fromEntries(found.map(({ path, sources }) => [path, sources])),
  };
};

const sourcesOf = ({ values, sourceOf }: Layer): Sources =>
  Object.fromEntries(Object.keys(values).map((path) => [path, [sourceOf(path as SettingPath)]]));

/** Those whose word is heard: the nearest, or all that add something. */
const contributors = (path: SettingPath, saying: readonly Layer[]): readonly Layer[] => {
  if (table[path].merge === undefined) return saying.slice(-1);
  const adding = saying.filter(({ values }) => Object.keys(values[path] ?? {}).length > 0);
  return adding.length === 0 ? saying.slice(-1) : adding;
};

const together = (path: SettingPath, one: unknown, other: unknown): unknown =>
  table[path].merge === "append"
    ? [...new Set([...(one as readonly string[]), ...(other as readonly string[])])]
    : { ...(one as object), ...(other as object) };
