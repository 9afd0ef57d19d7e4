import { parseSettings, type SettingsNode } from "../policy/settings-json.ts";
import { findingsIn, isFree, isObject, sentenceOf } from "./check.ts";
import { SettingsError } from "./error.ts";
import { offsetOf, placeOf, plainOf } from "./node.ts";
import { settingPaths, table } from "./table.ts";
import type { SettingPath, SomeSettings } from "./values.ts";
import { wholeShape } from "./whole.ts";

/** What a file says, and what its writer should know of it. */
export type Said = { readonly values: SomeSettings; readonly warnings: readonly string[] };

/** What the text of a person's settings file says. Throws a `SettingsError` where it cannot be used. */
export const readSettings = (text: string, file: string): Said => {
  const node = parseFile(text, file);
  if (node === undefined) return { values: {}, warnings: [] };
  const plain = plainOf(node);
  const findings = findingsIn(wholeShape(), plain, []);
  const shown = findings.map((finding) => ({
    place: placeOf(text, offsetOf(node, finding.path)),
    message: sentenceOf(finding),
  }));
  if (!isFree(findings))
    throw new SettingsError({
      kind: "invalid",
      file,
      problems: shown.filter((_, index) => findings[index]?.level === "error"),
    });
  return {
    values: valuesIn(plain),
    warnings: shown.map(({ place, message }) => `${file}, line ${place.line}: ${message}`),
  };
};

/** A settings file as written, which is an object; undefined where it is empty. Throws a `SettingsError` where it is neither. */
export const parseFile = (text: string, file: string): SettingsNode | undefined => {
  if (/^\uFEFF?\s*$/.test(text)) return undefined;
  const parsed = parseSettings(text);
  if (!parsed.ok)
    throw new SettingsError({ kind: "unreadable", file, place: placeOf(text, parsed.at), why: parsed.why });
  if (parsed.node.type !== "object")
    throw new SettingsError({
      kind: "unreadable",
      file,
      place: placeOf(text, parsed.node.start),
      why: "there must be an object in { and }",
    });
  return parsed.node;
};

/** The settings in an object that was checked, by path. */
const valuesIn = (plain: unknown): SomeSettings => {
  const found = settingPaths.flatMap((path) => {
    const value = path.split(".").reduce<unknown>(valueAt, plain);
    return value === undefined ? [] : [[path, normal(path, value)] as const];
  });
  return Object.fromEntries(found) as SomeSettings;
};

const valueAt = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** One form for what may be written in two. */
const normal = (path: SettingPath, value: unknown): unknown => {
  const { shape } = table[path];
  return shape.type === "list" && shape.lenient && !Array.isArray(value) ? [value] : value;
};
