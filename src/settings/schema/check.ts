import { isObject } from "../../conversation/json.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { parsePermissionRule } from "../../policy/gate/permission-rules.ts";
import { parseSpecifier, specifierTools } from "../../policy/gate/tool-specifier.ts";
import { formatKeyPath, type KeyPath } from "./key-path.ts";
import { describeShape, type SettingField, type Shape, type ShapeOf, type SettingTextFormat } from "./shape.ts";

/** An error or warning about a value. A value with an error is not used. */
export type SettingsIssue = {
  readonly level: "error" | "warning";
  readonly path: KeyPath;
  readonly message: string;
  /** A description of the value; absent if it is secret. */
  readonly found?: string;
};

/** Formats an issue as a sentence. */
export const formatIssue = ({ message, found }: SettingsIssue): string =>
  found === undefined ? message : `${message.replace(/\.$/, "")}, not ${found}.`;

/** Validates a value against a shape. `path` is its key path. */
export const checkValue = (shape: Shape, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  switch (shape.type) {
    case "string":
      return typeof value === "string" && matchesFormat(shape.format, value) ? [] : [invalidValue(shape, value, path)];
    case "enum":
      return typeof value === "string" && shape.of.includes(value) ? [] : [invalidValue(shape, value, path)];
    case "boolean":
      return typeof value === "boolean" ? [] : [invalidValue(shape, value, path)];
    case "number":
      return typeof value === "number" && isInRange(shape, value) ? [] : [invalidValue(shape, value, path)];
    case "list":
      return checkList(shape, value, path);
    case "record":
      return checkRecord(shape, value, path);
    case "object":
      return checkFields(shape, value, path);
    case "union":
      return shape.of.some((one) => hasNoErrors(checkValue(one, value, path)))
        ? []
        : [invalidValue(shape, value, path)];
  }
};

/** Whether all issues are warnings. */
export const hasNoErrors = (findings: readonly SettingsIssue[]): boolean =>
  findings.every(({ level }) => level === "warning");

const checkList = (shape: ShapeOf<"list">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  if (shape.allowsSingle && typeof value === "string") return checkValue(shape.of, value, path);
  if (!Array.isArray(value) || (shape.isNonEmpty && value.length === 0)) return [invalidValue(shape, value, path)];
  return value.flatMap((item, index) => checkValue(shape.of, item, [...path, `${index}`]));
};

const checkRecord = (shape: ShapeOf<"record">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  if (!isObject(value)) return [invalidValue(shape, value, path)];
  return Object.entries(value).flatMap(([name, item]) =>
    name !== "" && matchesFormat(shape.format, name)
      ? checkValue(shape.of, item, [...path, name])
      : [
          errorAt(
            path,
            `${formatKeyPath(path)} has the invalid key ${quoteShortened(name)}; a key must be ${describeShape({ type: "string", format: shape.format ?? "name" })}.`,
          ),
        ],
  );
};

const checkFields = (shape: ShapeOf<"object">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  if (!isObject(value)) return [invalidValue(shape, value, path)];
  const { fields, oneOf } = shape;
  const missing = Object.keys(fields).filter((name) => fields[name]?.required && !Object.hasOwn(value, name));
  return [
    ...Object.entries(value).flatMap(([name, item]) => checkField(fields, name, item, path)),
    ...missing.map((name) => errorAt(path, `${formatKeyPath(path)} needs ${name}.`)),
    ...(oneOf === undefined || oneOf.some((name) => Object.hasOwn(value, name))
      ? []
      : [errorAt(path, `${formatKeyPath(path)} needs one of ${oneOf.join(", ")}.`)]),
  ];
};

const checkField = (
  fields: ShapeOf<"object">["fields"],
  name: string,
  item: unknown,
  path: KeyPath,
): readonly SettingsIssue[] => {
  const field: SettingField | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const at = [...path, name];
  if (field === undefined)
    return [{ level: "warning", path: at, message: unknownSettingMessage(at, Object.keys(fields)) }];
  const inside = checkValue(field.shape, item, at);
  return field.secret ? inside.map(({ level, path: where, message }) => ({ level, path: where, message })) : inside;
};

/** Returns the message for an unknown setting, with similar names. */
export const unknownSettingMessage = (path: KeyPath, known: readonly string[]): string => {
  const above = path.slice(0, -1);
  const close = nearestNames(path.at(-1) ?? "", known).map((name) => formatKeyPath([...above, name]));
  return `Unknown setting ${formatKeyPath(path)}.${close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`}`;
};

const invalidValue = (shape: Shape, value: unknown, path: KeyPath): SettingsIssue => {
  if (shape.type === "string" && shape.format === "rule" && typeof value === "string")
    return errorAt(path, unknownRuleMessage(value, path));
  return invalidShape(shape, value, path);
};

const invalidShape = (shape: Shape, value: unknown, path: KeyPath): SettingsIssue => ({
  ...errorAt(path, `${formatKeyPath(path)} must be ${describeShape(shape)}.`),
  found: describeFoundValue(value),
});

const unknownRuleMessage = (rule: string, path: KeyPath): string => {
  const setting = formatKeyPath(/^\d+$/.test(path.at(-1) ?? "") ? path.slice(0, -1) : path);
  return `Unknown rule ${quoteShortened(rule)} in ${setting}. ${suggestRuleSyntax(rule)}`;
};

/** Says why a text is no permission rule, or how it could be written as one. */
export const suggestRuleSyntax = (rule: string): string => {
  const foreign = parseSpecifier(rule.trim());
  if (foreign !== undefined && "problem" in foreign) return `${capitalize(foreign.problem).replace(/[.?]?$/, endMark)}`;
  const [, name = "", specifier = ""] = /^(\w+)(\(.*\))$/s.exec(rule.trim()) ?? [];
  const [near] = nearestNames(name, [...specifierTools, "run_shell_command"]);
  return near === undefined || name === near
    ? "Rules are edits, write_file, run_shell_command(npm test), server:NAME, agent:NAME, host:NAME, path:NAME, Bash(npm test:*), Edit(src/**), Read(.env), WebFetch(domain:NAME) or mcp__SERVER__TOOL."
    : `Did you mean ${near}${specifier}?`;
};

const endMark = (mark: string): string => (mark === "" ? "." : mark);

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const errorAt = (path: KeyPath, message: string): SettingsIssue => ({ level: "error", path, message });

const describeFoundValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? quoteShortened(value) : String(value);
};

const maxQuotedLength = 60;

const quoteShortened = (text: string): string =>
  JSON.stringify(text.length <= maxQuotedLength ? text : `${text.slice(0, maxQuotedLength)}...`);

const isInRange = ({ min: least, max: most = Infinity, isInteger: whole }: ShapeOf<"number">, value: number): boolean =>
  value >= least && value <= most && value < Infinity && (!whole || Number.isInteger(value));

const matchesFormat = (format: SettingTextFormat | undefined, text: string): boolean => {
  switch (format) {
    case undefined:
      return true;
    case "rule":
      return parsePermissionRule(text) !== undefined;
    case "url":
      return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
    case "model":
      return /^[^\s/]+\/\S+$/.test(text);
    case "name":
      return /^\S+$/.test(text);
  }
};
