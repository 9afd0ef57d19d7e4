import { nearest } from "../conversation/nearest.ts";
import { parseRule } from "../policy/rules.ts";
import { pathText, type Path } from "./path.ts";
import { wordsOf, type Field, type Shape, type ShapeOf, type TextFormat } from "./shape.ts";

/** Something about a value that its writer should know. A value with an error is not used; a warning changes nothing. */
export type Finding = {
  readonly level: "error" | "warning";
  readonly path: Path;
  readonly message: string;
  /** What was found there, in words; absent where it must not be shown. */
  readonly found?: string;
};

/** A finding as a sentence. */
export const sentenceOf = ({ message, found }: Finding): string =>
  found === undefined ? message : `${message.replace(/\.$/, "")}; it is ${found}.`;

/** All that is wrong with a value. `path` is where it stands. */
export const findingsIn = (shape: Shape, value: unknown, path: Path): readonly Finding[] => {
  switch (shape.type) {
    case "text":
      return typeof value === "string" && isOf(shape.format, value) ? [] : [unfit(shape, value, path)];
    case "choice":
      return typeof value === "string" && shape.of.includes(value) ? [] : [unfit(shape, value, path)];
    case "switch":
      return typeof value === "boolean" ? [] : [unfit(shape, value, path)];
    case "number":
      return typeof value === "number" && isWithin(shape, value) ? [] : [unfit(shape, value, path)];
    case "list":
      return inList(shape, value, path);
    case "names":
      return inNames(shape, value, path);
    case "fields":
      return inFields(shape, value, path);
    case "either":
      return shape.of.some((one) => isFree(findingsIn(one, value, path))) ? [] : [unfit(shape, value, path)];
  }
};

/** Whether nothing in the findings keeps a value from being used. */
export const isFree = (findings: readonly Finding[]): boolean => findings.every(({ level }) => level === "warning");

/** A JSON object, as opposed to a list or null. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inList = (shape: ShapeOf<"list">, value: unknown, path: Path): readonly Finding[] => {
  if (shape.lenient && typeof value === "string") return findingsIn(shape.of, value, path);
  if (!Array.isArray(value) || (shape.filled && value.length === 0)) return [unfit(shape, value, path)];
  return value.flatMap((item, index) => findingsIn(shape.of, item, [...path, `${index}`]));
};

const inNames = (shape: ShapeOf<"names">, value: unknown, path: Path): readonly Finding[] => {
  if (!isObject(value)) return [unfit(shape, value, path)];
  return Object.entries(value).flatMap(([name, item]) =>
    name !== "" && isOf(shape.format, name)
      ? findingsIn(shape.of, item, [...path, name])
      : [
          error(
            path,
            `${pathText(path)} holds the name ${quoted(name)}; each must be ${wordsOf({ type: "text", format: shape.format ?? "name" })}.`,
          ),
        ],
  );
};

const inFields = (shape: ShapeOf<"fields">, value: unknown, path: Path): readonly Finding[] => {
  if (!isObject(value)) return [unfit(shape, value, path)];
  const { fields, oneOf } = shape;
  const missing = Object.keys(fields).filter((name) => fields[name]?.required && !Object.hasOwn(value, name));
  return [
    ...Object.entries(value).flatMap(([name, item]) => inField(fields, name, item, path)),
    ...missing.map((name) => error(path, `${pathText(path)} needs ${name}.`)),
    ...(oneOf === undefined || oneOf.some((name) => Object.hasOwn(value, name))
      ? []
      : [error(path, `${pathText(path)} needs one of ${oneOf.join(", ")}.`)]),
  ];
};

const inField = (fields: ShapeOf<"fields">["fields"], name: string, item: unknown, path: Path): readonly Finding[] => {
  const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const at = [...path, name];
  if (field === undefined) return [{ level: "warning", path: at, message: unknownName(at, Object.keys(fields)) }];
  const inside = findingsIn(field.shape, item, at);
  return field.secret ? inside.map(({ level, path: where, message }) => ({ level, path: where, message })) : inside;
};

/** That there is no such setting, and which there is. */
export const unknownName = (path: Path, known: readonly string[]): string => {
  const above = path.slice(0, -1);
  const close = nearest(path.at(-1) ?? "", known).map((name) => pathText([...above, name]));
  return `There is no setting ${pathText(path)}.${close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`}`;
};

const unfit = (shape: Shape, value: unknown, path: Path): Finding => ({
  ...error(path, `${pathText(path)} must be ${wordsOf(shape)}.`),
  found: foundWords(value),
});

const error = (path: Path, message: string): Finding => ({ level: "error", path, message });

const foundWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? `the text ${quoted(value)}` : String(value);
};

const longest = 60;

const quoted = (text: string): string => JSON.stringify(text.length <= longest ? text : `${text.slice(0, longest)}...`);

const isWithin = ({ least, most = Infinity, whole }: ShapeOf<"number">, value: number): boolean =>
  value >= least && value <= most && value < Infinity && (!whole || Number.isInteger(value));

const isOf = (format: TextFormat | undefined, text: string): boolean => {
  switch (format) {
    case undefined:
      return true;
    case "rule":
      return parseRule(text) !== undefined;
    case "address":
      return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
    case "model":
      return /^[^\s/]+\/\S+$/.test(text);
    case "name":
      return /^\S+$/.test(text);
  }
};
