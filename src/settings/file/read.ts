import { parseLocatedSettings, parseSettings, type SettingsNode } from "../../policy/trust/settings-json.ts";
import { isObject } from "../../conversation/json.ts";
import { checkValue, hasNoErrors, formatIssue, type SettingsIssue } from "../schema/check.ts";
import { SettingsError, type SettingsProblem } from "../error.ts";
import { findOffset, positionAt, toPlainValue } from "./node.ts";
import { settingPaths, settingsTable } from "../schema/table.ts";
import type { SettingPath, PartialSettings } from "../schema/values.ts";
import { createFileShape } from "../schema/file-shape.ts";

/** The settings of a file, and warnings about it. */
export type SettingsReadResult = { readonly values: PartialSettings; readonly warnings: readonly string[] };

/** Reads the text of the user's settings file. Throws a `SettingsError` with line and column if it is invalid. */
export const readSettings = async (text: string, file: string): Promise<SettingsReadResult> => {
  const node = await parseSettingsFile(text, file);
  if (node === undefined) return { values: {}, warnings: [] };
  const plain = toPlainValue(node);
  const issues = checkValue(createFileShape(), plain, []);
  const problems = issues.length === 0 ? [] : await locateIssues(issues, text);
  if (!hasNoErrors(issues))
    throw new SettingsError({
      kind: "invalid",
      file,
      problems: problems.filter((_, index) => issues[index]?.level === "error"),
    });
  return {
    values: pickSettings(plain),
    warnings: problems.map(({ position, message }) => `${file}, line ${position.line}: ${message}`),
  };
};

const locateIssues = async (issues: readonly SettingsIssue[], text: string): Promise<readonly SettingsProblem[]> => {
  const located = await parseLocatedSettings(text);
  return issues.map((issue) => ({
    position: positionAt(text, located.ok ? findOffset(located.node, issue.path) : 0),
    message: formatIssue(issue),
  }));
};

/** Parses a settings file; undefined if it is empty. Throws a `SettingsError` if it is not an object. */
export const parseSettingsFile = async (text: string, file: string): Promise<SettingsNode | undefined> => {
  if (/^\uFEFF?\s*$/.test(text)) return undefined;
  const parsed = await parseSettings(text);
  const error = parsed.ok
    ? parsed.node.type === "object"
      ? undefined
      : { at: /[^\s\uFEFF]/.exec(text)?.index ?? 0, why: "Expected an object in { and }." }
    : parsed;
  if (error !== undefined)
    throw new SettingsError({ kind: "unreadable", file, position: positionAt(text, error.at), why: error.why });
  return parsed.ok ? parsed.node : undefined;
};

/** Returns the settings of a validated object, by path. */
const pickSettings = (plain: unknown): PartialSettings => {
  const found = settingPaths.flatMap((path) => {
    const value = path.split(".").reduce<unknown>(readProperty, plain);
    return value === undefined ? [] : [[path, normalizeValue(path, value)] as const];
  });
  return Object.fromEntries(found) as PartialSettings;
};

const readProperty = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Wraps a single value in a list where a list accepts one. */
const normalizeValue = (path: SettingPath, value: unknown): unknown => {
  const { shape } = settingsTable[path];
  return shape.type === "list" && shape.allowsSingle && !Array.isArray(value) ? [value] : value;
};
