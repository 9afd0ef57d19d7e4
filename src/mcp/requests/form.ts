import { isObject, type JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { isSecretField } from "../../policy/secrets/names.ts";

/** A field of a form. All texts are sanitized. */
export type FormField = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Set where its name suggests a password, a key or the like. */
  readonly isSecret: boolean;
  readonly kind: FieldKind;
};

/** The kind of value a field takes. */
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

/** A value to choose, and its title. */
export type FieldChoice = { readonly value: string; readonly title: string };

/** Limits on fields of a form and values of a field: more would not be a question to a person. */
const maxFields = 50;
const maxChoices = 200;

/** Reads the fields of an elicitation schema; or returns why the form cannot be shown. */
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
  const defaultValue = schema["default"];
  const choices = readChoices(schema);
  switch (type) {
    case "string":
      if (choices === undefined) return readTextKind(schema);
      return choices.length === 0 || choices.length > maxChoices
        ? undefined
        : { type: "choice", choices, ...(isChoice(choices, defaultValue) ? { defaultValue } : {}) };
    case "number":
    case "integer":
      return {
        type: "number",
        isWhole: type === "integer",
        ...finiteNumbers({ min: schema["minimum"], max: schema["maximum"], defaultValue }),
      };
    case "boolean":
      return { type: "switch", ...(typeof defaultValue === "boolean" ? { defaultValue } : {}) };
    case "array":
      return readChoicesKind(schema, isObject(items) ? (readChoices(items) ?? []) : []);
    default:
      return undefined;
  }
};

const readTextKind = (schema: FieldSchema): FieldKind => {
  const { format, pattern } = schema;
  const defaultValue = schema["default"];
  return {
    type: "text",
    ...(isFormat(format) ? { format } : {}),
    ...finiteNumbers({ min: schema["minLength"], max: schema["maxLength"] }),
    ...(typeof pattern === "string" ? { pattern } : {}),
    ...(typeof defaultValue === "string" && defaultValue !== "" ? { defaultValue } : {}),
  };
};

const readChoicesKind = (schema: FieldSchema, choices: readonly FieldChoice[]): FieldKind | undefined => {
  const defaultValue = schema["default"];
  if (choices.length === 0 || choices.length > maxChoices) return undefined;
  return {
    type: "choices",
    choices,
    ...finiteNumbers({ min: schema["minItems"], max: schema["maxItems"] }),
    ...(Array.isArray(defaultValue) && defaultValue.every((value) => isChoice(choices, value)) ? { defaultValue } : {}),
  };
};

/** The values a schema allows, in any of the ways to write them; undefined where it allows all. */
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

/** The finite numbers among these. */
const finiteNumbers = <Name extends string>(
  given: Readonly<Record<Name, unknown>>,
): { readonly [name in Name]?: number } =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === "number" && Number.isFinite(value)),
  ) as { readonly [name in Name]?: number };

const sanitizeShort = (value: unknown, most: number): string =>
  typeof value === "string" ? sanitizeForTerminal(value.slice(0, most), "line").trim() : "";
