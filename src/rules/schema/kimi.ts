import { draftProblems } from "./draft.ts";
import { schemasIn, typesOf, type SchemaNode, type SchemaProblem } from "./walk.ts";
import { asArray, isObject, join } from "../walk.ts";

/** The problems of a schema in Moonshot's flavour of JSON Schema. An empty top-level schema allows anything. */
export const kimiProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] => {
  if (isObject(schema) && Object.keys(schema).length === 0) return [];
  return [
    ...rootProblems(schema, pointer),
    ...[...schemasIn(schema, pointer)].flatMap((node) => [...draftProblems(node), ...nodeProblems(node)]),
  ];
};

const place = (steps: readonly string[]): string => `At path '${steps.length === 0 ? "root" : steps.join(".")}'`;

const rootProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] =>
  isObject(schema) && schema["type"] !== "object" && schema["anyOf"] === undefined && schema["$ref"] === undefined
    ? [{ pointer, message: `${place([])}: type is required and must be "object"` }]
    : [];

const unsupported = (
  "allOf oneOf not if then else const pattern patternProperties format prefixItems exclusiveMinimum " +
  "exclusiveMaximum multipleOf uniqueItems contains $schema definitions"
).split(" ");

const nodeProblems = (node: SchemaNode): readonly SchemaProblem[] => {
  const { value: schema, pointer, steps } = node;
  const at = place(steps);
  if (typeof schema === "boolean") return [{ pointer, message: `${at}: property schema must be an object` }];
  if (!isObject(schema)) return [];
  return [
    ...unsupported
      .filter((key) => schema[key] !== undefined)
      .map((key) => ({ pointer: join(pointer, key), message: `${at}: keyword '${key}' is not supported` })),
    ...referenceProblems(schema, node),
    ...choiceProblems(schema, node),
    ...typeProblems(schema, node),
    ...enumProblems(schema["enum"], { pointer: join(pointer, "enum"), at }),
    ...(steps.length > 0 && schema["$defs"] !== undefined
      ? [{ pointer: join(pointer, "$defs"), message: `${at}: $defs may only appear at the root` }]
      : []),
  ];
};

const referenceProblems = (
  schema: Record<string, unknown>,
  { pointer, steps }: SchemaNode,
): readonly SchemaProblem[] => {
  const { $ref: reference } = schema;
  if (typeof reference !== "string") return [];
  const at = place([...steps, "$ref"]);
  const isInside = reference === "#" || reference.startsWith("#/$defs/");
  return [
    ...(isInside ? [] : [{ pointer: join(pointer, "$ref"), message: `${at}: references must start with #/$defs/` }]),
    ...(schema["type"] === undefined
      ? siblings(schema, "$ref").map((key) => ({
          pointer: join(pointer, key),
          message: `${place(steps)}: conflicting keywords found after $ref expansion: ${key}`,
        }))
      : [
          {
            pointer: join(pointer, "type"),
            message: `${place(steps)}: when using $ref, type should be defined in the referenced schema instead of the parent schema`,
          },
        ]),
  ];
};

const choiceProblems = (schema: Record<string, unknown>, { pointer, steps }: SchemaNode): readonly SchemaProblem[] => {
  if (!Array.isArray(schema["anyOf"])) return [];
  if (schema["type"] !== undefined) {
    const message = `${place(steps)}: when using anyOf, type should be defined in anyOf items instead of the parent schema`;
    return [{ pointer: join(pointer, "type"), message }];
  }
  return siblings(schema, "anyOf").map((key) => ({
    pointer: join(pointer, key),
    message: `${place(steps)}: keyword '${key}' is not allowed beside anyOf`,
  }));
};

const beside: ReadonlySet<string> = new Set(["description", "title", "$defs", "$id"]);

const siblings = (schema: Record<string, unknown>, owner: string): readonly string[] =>
  Object.keys(schema).filter((key) => key !== owner && !beside.has(key) && !unsupported.includes(key));

/** Only direct properties need a type: a member of anyOf may omit it. */
const typeProblems = (schema: Record<string, unknown>, { pointer, steps }: SchemaNode): readonly SchemaProblem[] => {
  const owner = steps.at(-1) === "items" ? "items" : steps.at(-2);
  if (owner !== "items" && owner !== "properties") return [];
  const isTyped =
    typesOf(schema).length > 0 || ["anyOf", "$ref", "enum", ...unsupported].some((key) => schema[key] !== undefined);
  return isTyped ? [] : [{ pointer, message: `${place(steps)}: type is not defined` }];
};

const enumProblems = (
  values: unknown,
  { pointer, at }: { readonly pointer: string; readonly at: string },
): readonly SchemaProblem[] => {
  const kinds = new Set(asArray(values).map((value) => (value === null ? "null" : typeof value)));
  kinds.delete("null");
  if (kinds.size > 1) return [{ pointer, message: `${at}: all enum values must share the same type` }];
  const [kind] = kinds;
  return kind === undefined || kind === "string" || kind === "number"
    ? []
    : [{ pointer, message: `${at}: enum values must be numbers or strings` }];
};
