import type { JsonObject } from "../conversation/json.ts";
import type { InputSchema } from "./tool.ts";

/*
 * Schemas of the parameters of built-in tools: the few kinds they need, each with its JSON Schema. Tools of a program
 * are validated by Zod, which takes longer to load than a call of a built-in tool takes. Both report the same.
 */

/** A schema of a value. */
export type Schema<Value> = {
  readonly jsonSchema: JsonObject;
  readonly isOptional?: boolean;
  /** Returns the value as the tool gets it. Adds a mismatch for each part that does not fit; the value is then unusable. */
  readonly read: (value: unknown, path: SchemaPath, mismatches: SchemaMismatch[]) => Value;
};

/** The type of the values of a schema. */
export type ValueOf<Given> = Given extends Schema<infer Value> ? Value : never;

/** A schema of an object: also the input of a tool. */
export type ObjectSchema<Value> = Schema<Value> & InputSchema<Value>;

type SchemaPath = readonly (string | number)[];

/** A part of a value that does not fit: where it is, and a message. */
type SchemaMismatch = { readonly path: SchemaPath; readonly message: string };

type Described = { readonly description?: string };

/** Creates a schema of texts. `emptyMessage` is reported in place of the usual message for an empty text. */
export const string = ({
  isTrimmed = false,
  emptyMessage = "expected string to have >=1 characters",
  ...keywords
}: Described & {
  readonly minLength?: 1;
  readonly isTrimmed?: boolean;
  readonly emptyMessage?: string;
} = {}): Schema<string> => ({
  jsonSchema: { type: "string", ...keywords },
  read: (value, path, mismatches) => {
    if (typeof value !== "string") return mismatch(mismatches, path, "expected string");
    const text = isTrimmed ? value.trim() : value;
    return text === "" && keywords.minLength === 1 ? mismatch(mismatches, path, emptyMessage) : text;
  },
});

type NumberRange = Described & { readonly minimum?: number; readonly maximum?: number };

/** Creates a schema of numbers. */
export const number = ({ minimum = -Infinity, maximum = Infinity, ...more }: NumberRange = {}): Schema<number> => ({
  jsonSchema: { type: "number", ...finite({ minimum, maximum }), ...more },
  read: (value, path, mismatches) => {
    if (!Number.isFinite(value)) return mismatch(mismatches, path, "expected number");
    const given = value as number;
    if (given < minimum) return mismatch(mismatches, path, `expected number to be >=${minimum}`);
    return given > maximum ? mismatch(mismatches, path, `expected number to be <=${maximum}`) : given;
  },
});

/** Creates a schema of whole numbers that a double holds exactly. */
export const integer = ({ minimum = -Infinity, ...more }: Omit<NumberRange, "maximum"> = {}): Schema<number> => ({
  jsonSchema: { type: "integer", ...finite({ minimum }), ...more },
  read: (value, path, mismatches) => {
    if (!Number.isFinite(value)) return mismatch(mismatches, path, "expected number");
    const given = value as number;
    if (!Number.isInteger(given)) return mismatch(mismatches, path, "expected int");
    const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
    if (given < least) return mismatch(mismatches, path, `expected int to be >=${least}`);
    if (given > most) return mismatch(mismatches, path, `expected int to be <=${most}`);
    return given < minimum ? mismatch(mismatches, path, `expected number to be >=${minimum}`) : given;
  },
});

const finite = (limits: Readonly<Record<string, number>>): JsonObject =>
  Object.fromEntries(Object.entries(limits).filter(([, limit]) => Number.isFinite(limit)));

/** Creates a schema of true and false. */
export const boolean = (keywords: Described = {}): Schema<boolean> => ({
  jsonSchema: { type: "boolean", ...keywords },
  read: (value, path, mismatches) =>
    typeof value === "boolean" ? value : mismatch(mismatches, path, "expected boolean"),
});

/** Creates a schema of one of these texts. */
export const oneOf = <const Value extends string>(
  values: readonly Value[],
  keywords: Described = {},
): Schema<Value> => ({
  jsonSchema: { type: "string", enum: [...values], ...keywords },
  read: (value, path, mismatches) =>
    values.find((each) => each === value) ??
    mismatch(mismatches, path, `expected one of ${values.map((each) => `"${each}"`).join("|")}`),
});

/** Creates a schema of lists. */
export const list = <Item>(
  items: Schema<Item>,
  {
    minItems = 0,
    maxItems = Infinity,
    ...more
  }: Described & { readonly minItems?: number; readonly maxItems?: number } = {},
): Schema<Item[]> => ({
  jsonSchema: {
    ...(minItems === 0 ? {} : { minItems }),
    ...finite({ maxItems }),
    type: "array",
    items: items.jsonSchema,
    ...more,
  },
  read: (value, path, mismatches) => {
    if (!Array.isArray(value)) return mismatch(mismatches, path, "expected array");
    if (value.length < minItems) return mismatch(mismatches, path, `expected array to have >=${minItems} items`);
    if (value.length > maxItems) return mismatch(mismatches, path, `expected array to have <=${maxItems} items`);
    return value.map((item, index) => items.read(item, [...path, index], mismatches));
  },
});

type Shape = { readonly [name: string]: Schema<unknown> };

type OptionalNames<Given extends Shape> = {
  [Name in keyof Given]: Given[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof Given];

type ObjectValue<Given extends Shape> = {
  [Name in Exclude<keyof Given, OptionalNames<Given>>]: ValueOf<Given[Name]>;
} & { [Name in OptionalNames<Given>]?: ValueOf<Given[Name]> };

/** Creates a schema of objects. Other properties are dropped. */
export const object = <Given extends Shape>(
  shape: Given,
  keywords: Described = {},
): ObjectSchema<ObjectValue<Given>> => {
  const entries = Object.entries(shape);
  const required = entries.filter(([, schema]) => schema.isOptional !== true).map(([name]) => name);
  const read: Schema<ObjectValue<Given>>["read"] = (value, path, mismatches) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return mismatch(mismatches, path, "expected object");
    const given = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      entries
        .filter(([name, { isOptional }]) => isOptional !== true || Object.hasOwn(given, name))
        .map(([name, schema]) => [
          name,
          schema.read(Object.hasOwn(given, name) ? given[name] : undefined, [...path, name], mismatches),
        ]),
    ) as ObjectValue<Given>;
  };
  return {
    jsonSchema: {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, { jsonSchema }]) => [name, jsonSchema])),
      ...(required.length === 0 ? {} : { required }),
      ...keywords,
    },
    read,
    ...createInputSchema(read),
  };
};

/** Makes a property optional. */
export const optional = <Value>({
  jsonSchema: { description, ...keywords },
  read,
}: Schema<Value>): Schema<Value | undefined> & { readonly isOptional: true } => ({
  // Models see the description first. The order is part of sent prompts.
  jsonSchema: description === undefined ? keywords : { description, ...keywords },
  isOptional: true,
  read: (value, path, mismatches) => (value === undefined ? undefined : read(value, path, mismatches)),
});

/** Creates the input schema of a tool, which reports mismatches as a Zod type does: path and message. */
export const createInputSchema = <Input>(read: Schema<Input>["read"]): InputSchema<Input> => ({
  safeParseAsync: async (raw) => {
    const mismatches: SchemaMismatch[] = [];
    const data = read(raw, [], mismatches);
    const issues = mismatches.map(({ path, message }) => ({ code: "custom", path: [...path], message, input: raw }));
    return (issues.length === 0 ? { success: true, data } : { success: false, error: { issues } }) as never;
  },
});

const mismatch = (mismatches: SchemaMismatch[], path: SchemaPath, message: string): never => {
  mismatches.push({ path, message });
  return undefined as never;
};
