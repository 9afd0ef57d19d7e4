import { parseSettings, type SettingsNode } from "../../policy/trust/settings-json.ts";
import { checkValue, hasNoErrors, isObject, formatIssue } from "../schema/check.ts";
import { SettingsError } from "../error.ts";
import { findOffset, positionAt, toPlainValue } from "./node.ts";
import { settingPaths, settingsTable } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";
import { createFileShape } from "../schema/file-shape.ts";

/** What a file says, and what its writer should know of it. */
export type SettingsReadResult = { readonly values: PartialSettings; readonly warnings: readonly string[] };

/** What the text of a person's settings file says. Throws a `SettingsError` where it cannot be used. */
export const readSettings = (text: string, file: string): SettingsReadResult => {
  const node = parseSettingsFile(text, file);
  if (node === undefined) return { values: {}, warnings: [] };
  const plain = toPlainValue(node);
  const findings = checkValue(createFileShape(), plain, []);
  const shown = findings.map((finding) => ({
    position: positionAt(text, findOffset(node, finding.path)),
    message: formatIssue(finding),
  }));
  if (!hasNoErrors(findings))
    throw new SettingsError({
      kind: "invalid",
      file,
      problems: shown.filter((_, index) => findings[index]?.level === "error"),
    });
  return {
    values: pickSettings(plain),
    warnings: shown.map(({ position, message }) => `${file}, line ${position.line}: ${message}`),
  };
};

/** A settings file as written, which is an object; undefined where it is empty. Throws a `SettingsError` where it is neither. */
export const parseSettingsFile = (text: string, file: string): SettingsNode | undefined => {
  if (/^\uFEFF?\s*$/.test(text)) return undefined;
  const parsed = parseSettings(text);
  if (!parsed.ok)
    throw new SettingsError({ kind: "unreadable", file, position: positionAt(text, parsed.at), why: parsed.why });
  if (parsed.node.type !== "object")
    throw new SettingsError({
      kind: "unreadable",
      file,
      position: positionAt(text, parsed.node.start),
      why: "there must be an object in { and }",
    });
  return parsed.node;
};

/** The settings in an object that was checked, by path. */
const pickSettings = (plain: unknown): PartialSettings => {
  const found = settingPaths.flatMap((path) => {
    const value = path.split(".").reduce<unknown>(readProperty, plain);
    return value === undefined ? [] : [[path, normalizeValue(path, value)] as const];
  });
  return Object.fromEntries(found) as PartialSettings;
};

const readProperty = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** One form for what may be written in two. */
const normalizeValue = (path: SettingPath, value: unknown): unknown => {
  const { shape } = settingsTable[path];
  return shape.type === "list" && shape.allowsSingle && !Array.isArray(value) ? [value] : value;
};
