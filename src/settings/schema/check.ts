import { nearestNames } from "../../conversation/nearest-names.ts";
import { parsePermissionRule } from "../../policy/gate/permission-rules.ts";
import { formatKeyPath, type KeyPath } from "./key-path.ts";
import { describeShape, type SettingField, type Shape, type ShapeOf, type SettingTextFormat } from "./shape.ts";

/** Something about a value that its writer should know. A value with an error is not used; a warning changes nothing. */
export type SettingsIssue = {
  readonly level: "error" | "warning";
  readonly path: KeyPath;
  readonly message: string;
  /** What was found there, in words; absent where it must not be shown. */
  readonly found?: string;
};

/** A finding as a sentence. */
export const formatIssue = ({ message, found }: SettingsIssue): string =>
  found === undefined ? message : `${message.replace(/\.$/, "")}; it is ${found}.`;

/** All that is wrong with a value. `path` is where it stands. */
export const checkValue = (shape: Shape, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  switch (shape.type) {
    case "text":
      return typeof value === "string" && matchesFormat(shape.format, value) ? [] : [invalidValue(shape, value, path)];
    case "choice":
      return typeof value === "string" && shape.of.includes(value) ? [] : [invalidValue(shape, value, path)];
    case "switch":
      return typeof value === "boolean" ? [] : [invalidValue(shape, value, path)];
    case "number":
      return typeof value === "number" && isInRange(shape, value) ? [] : [invalidValue(shape, value, path)];
    case "list":
      return checkList(shape, value, path);
    case "names":
      return checkRecord(shape, value, path);
    case "fields":
      return checkFields(shape, value, path);
    case "either":
      return shape.of.some((one) => hasNoErrors(checkValue(one, value, path)))
        ? []
        : [invalidValue(shape, value, path)];
  }
};

/** Whether nothing in the findings keeps a value from being used. */
export const hasNoErrors = (findings: readonly SettingsIssue[]): boolean =>
  findings.every(({ level }) => level === "warning");

/** A JSON object, as opposed to a list or null. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const checkList = (shape: ShapeOf<"list">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  if (shape.allowsSingle && typeof value === "string") return checkValue(shape.of, value, path);
  if (!Array.isArray(value) || (shape.isNonEmpty && value.length === 0)) return [invalidValue(shape, value, path)];
  return value.flatMap((item, index) => checkValue(shape.of, item, [...path, `${index}`]));
};

const checkRecord = (shape: ShapeOf<"names">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
  if (!isObject(value)) return [invalidValue(shape, value, path)];
  return Object.entries(value).flatMap(([name, item]) =>
    name !== "" && matchesFormat(shape.format, name)
      ? checkValue(shape.of, item, [...path, name])
      : [
          errorAt(
            path,
            `${formatKeyPath(path)} holds the name ${quoteShortened(name)}; each must be ${describeShape({ type: "text", format: shape.format ?? "name" })}.`,
          ),
        ],
  );
};

const checkFields = (shape: ShapeOf<"fields">, value: unknown, path: KeyPath): readonly SettingsIssue[] => {
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
  fields: ShapeOf<"fields">["fields"],
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

/** That there is no such setting, and which there is. */
export const unknownSettingMessage = (path: KeyPath, known: readonly string[]): string => {
  const above = path.slice(0, -1);
  const close = nearestNames(path.at(-1) ?? "", known).map((name) => formatKeyPath([...above, name]));
  return `There is no setting ${formatKeyPath(path)}.${close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`}`;
};

const invalidValue = (shape: Shape, value: unknown, path: KeyPath): SettingsIssue => ({
  ...errorAt(path, `${formatKeyPath(path)} must be ${describeShape(shape)}.`),
  found: describeFoundValue(value),
});

const errorAt = (path: KeyPath, message: string): SettingsIssue => ({ level: "error", path, message });

const describeFoundValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? `the text ${quoteShortened(value)}` : String(value);
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
    case "address":
      return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
    case "model":
      return /^[^\s/]+\/\S+$/.test(text);
    case "name":
      return /^\S+$/.test(text);
  }
};
