import { isObject, type JsonObject } from "../conversation/json.ts";
import { plain } from "../policy/plain.ts";
import { isSecretField } from "../policy/redact-names.ts";

/** One thing a server wants to know. All words are safe to show. */
export type FormField = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly isRequired: boolean;
  /** Set where its name says that it is a password, a key or the like. */
  readonly seemsSecret: boolean;
  readonly kind: FieldKind;
};

/** What kind of answer fits. */
export type FieldKind =
  | {
      readonly type: "text";
      readonly format?: TextFormat;
      readonly least?: number;
      readonly most?: number;
      readonly pattern?: string;
      readonly otherwise?: string;
    }
  | {
      readonly type: "number";
      readonly isWhole: boolean;
      readonly least?: number;
      readonly most?: number;
      readonly otherwise?: number;
    }
  | { readonly type: "switch"; readonly otherwise?: boolean }
  | { readonly type: "choice"; readonly of: readonly FieldChoice[]; readonly otherwise?: string }
  | {
      readonly type: "choices";
      readonly of: readonly FieldChoice[];
      readonly least?: number;
      readonly most?: number;
      readonly otherwise?: readonly string[];
    };

export type TextFormat = "email" | "uri" | "date" | "date-time";

/** A value to choose, and what it is called. */
export type FieldChoice = { readonly value: string; readonly title: string };

/** Fields of one form and values of one field, at most: more than that is no question to a person. */
const mostFields = 50;
const mostChoices = 200;

/** The fields of a form a server asks for; or, where it cannot be asked, why. */
export const readForm = (schema: JsonObject): readonly FormField[] | string => {
  const { properties, required } = schema;
  const given = isObject(properties) ? Object.entries(properties) : [];
  if (given.length > mostFields) return `It has ${given.length} fields, and at most ${mostFields} are asked for.`;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = given.map(([name, field]) => fieldOf(name, isObject(field) ? field : {}, needed.has(name)));
  const unknown = fields.find((field) => typeof field === "string");
  return unknown ?? fields.filter((field) => typeof field !== "string");
};

type Schema = Readonly<Record<string, unknown>>;

const fieldOf = (name: string, schema: Schema, isRequired: boolean): FormField | string => {
  const called = words(name, 100);
  const kind = kindOf(schema);
  if (kind === undefined) return `The field ${called} is of a kind that cannot be asked for.`;
  return {
    name,
    title: words(schema["title"], 200) || called,
    about: words(schema["description"], 1000),
    isRequired,
    seemsSecret: isSecretField(name) || isSecretField(words(schema["title"], 200)),
    kind,
  };
};

const kindOf = (schema: Schema): FieldKind | undefined => {
  const { type, items } = schema;
  const otherwise = schema["default"];
  const of = choicesIn(schema);
  switch (type) {
    case "string":
      if (of === undefined) return textOf(schema);
      return of.length === 0 || of.length > mostChoices
        ? undefined
        : { type: "choice", of, ...(isAmong(of, otherwise) ? { otherwise } : {}) };
    case "number":
    case "integer":
      return {
        type: "number",
        isWhole: type === "integer",
        ...numbers({ least: schema["minimum"], most: schema["maximum"], otherwise }),
      };
    case "boolean":
      return { type: "switch", ...(typeof otherwise === "boolean" ? { otherwise } : {}) };
    case "array":
      return severalOf(schema, isObject(items) ? (choicesIn(items) ?? []) : []);
    default:
      return undefined;
  }
};

const textOf = (schema: Schema): FieldKind => {
  const { format, pattern } = schema;
  const otherwise = schema["default"];
  return {
    type: "text",
    ...(isFormat(format) ? { format } : {}),
    ...numbers({ least: schema["minLength"], most: schema["maxLength"] }),
    ...(typeof pattern === "string" ? { pattern } : {}),
    ...(typeof otherwise === "string" && otherwise !== "" ? { otherwise } : {}),
  };
};

const severalOf = (schema: Schema, of: readonly FieldChoice[]): FieldKind | undefined => {
  const otherwise = schema["default"];
  if (of.length === 0 || of.length > mostChoices) return undefined;
  return {
    type: "choices",
    of,
    ...numbers({ least: schema["minItems"], most: schema["maxItems"] }),
    ...(Array.isArray(otherwise) && otherwise.every((value) => isAmong(of, value)) ? { otherwise } : {}),
  };
};

/** The values a schema leaves open, in any of the ways to write them; undefined where it leaves all. */
const choicesIn = (schema: Schema): readonly FieldChoice[] | undefined => {
  const { enumNames: names, oneOf, anyOf } = schema;
  const values = schema["enum"];
  if (Array.isArray(values))
    return values.flatMap((value, at) => choice(value, Array.isArray(names) ? names[at] : undefined));
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  return Array.isArray(titled)
    ? titled.flatMap((each) => (isObject(each) ? choice(each["const"], each["title"]) : []))
    : undefined;
};

const choice = (value: unknown, title: unknown): readonly FieldChoice[] =>
  typeof value === "string" ? [{ value, title: words(title, 200) || words(value, 200) || "(empty)" }] : [];

const isAmong = (of: readonly FieldChoice[], value: unknown): value is string =>
  of.some((each) => each.value === value);

const isFormat = (format: unknown): format is TextFormat =>
  format === "email" || format === "uri" || format === "date" || format === "date-time";

/** Those that are numbers. */
const numbers = <Name extends string>(given: Readonly<Record<Name, unknown>>): { readonly [name in Name]?: number } =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === "number" && Number.isFinite(value)),
  ) as { readonly [name in Name]?: number };

const words = (value: unknown, most: number): string =>
  typeof value === "string" ? plain(value.slice(0, most), "line").trim() : "";
