import { isObject, type JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { isSecretField } from "../../policy/secrets/names.ts";

/** One thing a server wants to know. All words are safe to show. */
export type FormField = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Set where its name says that it is a password, a key or the like. */
  readonly isSecret: boolean;
  readonly kind: FieldKind;
};

/** What kind of answer fits. */
export type FieldKind =
  | {
      readonly type: "text";
      readonly format?: FormTextFormat;
      readonly min?: number;
      readonly max?: number;
      readonly pattern?: string;
      readonly defaultValue?: string;
    }
  | {
      readonly type: "number";
      readonly isWhole: boolean;
      readonly min?: number;
      readonly max?: number;
      readonly defaultValue?: number;
    }
  | { readonly type: "switch"; readonly defaultValue?: boolean }
  | { readonly type: "choice"; readonly choices: readonly FieldChoice[]; readonly defaultValue?: string }
  | {
      readonly type: "choices";
      readonly choices: readonly FieldChoice[];
      readonly min?: number;
      readonly max?: number;
      readonly defaultValue?: readonly string[];
    };

export type FormTextFormat = "email" | "uri" | "date" | "date-time";

/** A value to choose, and what it is called. */
export type FieldChoice = { readonly value: string; readonly title: string };

/** Fields of one form and values of one field, at most: more than that is no question to a person. */
const maxFields = 50;
const maxChoices = 200;

/** The fields of a form a server asks for; or, where it cannot be asked, why. */
export const readForm = (schema: JsonObject): readonly FormField[] | string => {
  const { properties, required } = schema;
  const given = isObject(properties) ? Object.entries(properties) : [];
  if (given.length > maxFields) return `It has ${given.length} fields, and at most ${maxFields} are asked for.`;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = given.map(([name, field]) => readField(name, isObject(field) ? field : {}, needed.has(name)));
  const unknown = fields.find((field) => typeof field === "string");
  return unknown ?? fields.filter((field) => typeof field !== "string");
};

type FieldSchema = Readonly<Record<string, unknown>>;

const readField = (name: string, schema: FieldSchema, isRequired: boolean): FormField | string => {
  const called = sanitizeShort(name, 100);
  const kind = readKind(schema);
  if (kind === undefined) return `The field ${called} is of a kind that cannot be asked for.`;
  return {
    name,
    title: sanitizeShort(schema["title"], 200) || called,
    description: sanitizeShort(schema["description"], 1000),
    isRequired,
    isSecret: isSecretField(name) || isSecretField(sanitizeShort(schema["title"], 200)),
    kind,
  };
};

const readKind = (schema: FieldSchema): FieldKind | undefined => {
  const { type, items } = schema;
  const otherwise = schema["default"];
  const of = readChoices(schema);
  switch (type) {
    case "string":
      if (of === undefined) return readTextKind(schema);
      return of.length === 0 || of.length > maxChoices
        ? undefined
        : { type: "choice", choices: of, ...(isChoice(of, otherwise) ? { defaultValue: otherwise } : {}) };
    case "number":
    case "integer":
      return {
        type: "number",
        isWhole: type === "integer",
        ...finiteNumbers({ least: schema["minimum"], most: schema["maximum"], otherwise }),
      };
    case "boolean":
      return { type: "switch", ...(typeof otherwise === "boolean" ? { defaultValue: otherwise } : {}) };
    case "array":
      return readChoicesKind(schema, isObject(items) ? (readChoices(items) ?? []) : []);
    default:
      return undefined;
  }
};

const readTextKind = (schema: FieldSchema): FieldKind => {
  const { format, pattern } = schema;
  const otherwise = schema["default"];
  return {
    type: "text",
    ...(isFormat(format) ? { format } : {}),
    ...finiteNumbers({ least: schema["minLength"], most: schema["maxLength"] }),
    ...(typeof pattern === "string" ? { pattern } : {}),
    ...(typeof otherwise === "string" && otherwise !== "" ? { defaultValue: otherwise } : {}),
  };
};

const readChoicesKind = (schema: FieldSchema, of: readonly FieldChoice[]): FieldKind | undefined => {
  const otherwise = schema["default"];
  if (of.length === 0 || of.length > maxChoices) return undefined;
  return {
    type: "choices",
    choices: of,
    ...finiteNumbers({ least: schema["minItems"], most: schema["maxItems"] }),
    ...(Array.isArray(otherwise) && otherwise.every((value) => isChoice(of, value)) ? { defaultValue: otherwise } : {}),
  };
};

/** The values a schema leaves open, in any of the ways to write them; undefined where it leaves all. */
const readChoices = (schema: FieldSchema): readonly FieldChoice[] | undefined => {
  const { enumNames: names, oneOf, anyOf } = schema;
  const values = schema["enum"];
  if (Array.isArray(values))
    return values.flatMap((value, at) => toChoice(value, Array.isArray(names) ? names[at] : undefined));
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  return Array.isArray(titled)
    ? titled.flatMap((each) => (isObject(each) ? toChoice(each["const"], each["title"]) : []))
    : undefined;
};

const toChoice = (value: unknown, title: unknown): readonly FieldChoice[] =>
  typeof value === "string"
    ? [{ value, title: sanitizeShort(title, 200) || sanitizeShort(value, 200) || "(empty)" }]
    : [];

const isChoice = (of: readonly FieldChoice[], value: unknown): value is string =>
  of.some((each) => each.value === value);

const isFormat = (format: unknown): format is FormTextFormat =>
  format === "email" || format === "uri" || format === "date" || format === "date-time";

/** Those that are numbers. */
const finiteNumbers = <Name extends string>(
  given: Readonly<Record<Name, unknown>>,
): { readonly [name in Name]?: number } =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === "number" && Number.isFinite(value)),
  ) as { readonly [name in Name]?: number };

const sanitizeShort = (value: unknown, most: number): string =>
  typeof value === "string" ? sanitizeForTerminal(value.slice(0, most), "line").trim() : "";
