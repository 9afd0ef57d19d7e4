import { isObject, join } from "../walk.ts";

/** One problem of a schema: its pointer, and the message without the tool's name. */
export type SchemaProblem = { readonly pointer: string; readonly message: string };

/** One schema inside a schema, the top one included. */
export type SchemaNode = {
  /** Usually an object; a boolean is a schema too, and anything else is a problem. */
  readonly value: unknown;
  readonly pointer: string;
  /** The keys from the top to here. */
  readonly steps: readonly string[];
  /** How deeply the described value is nested in objects and arrays. */
  readonly depth: number;
};

/** Keywords that hold one schema, a list of schemas, or a map of schemas. */
const single = [
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "additionalItems",
];
const listsOf = ["anyOf", "oneOf", "allOf", "prefixItems"];
const mapsOf = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

const deepest = 500;

/** Every schema inside a schema, the top one first. Stops 500 levels down, far below what any API reads. */
export function* schemasIn(top: unknown, pointer: string): Generator<SchemaNode> {
  const pending: SchemaNode[] = [{ value: top, pointer, steps: [], depth: 0 }];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node;
    if (node.steps.length < deepest) for (const inner of childrenOf(node).toReversed()) pending.push(inner);
  }
}

const childrenOf = (node: SchemaNode): readonly SchemaNode[] => {
  const { value: schema } = node;
  if (!isObject(schema)) return [];
  return [
    ...mapsOf.flatMap((key) => inMap(node, key, schema[key])),
    ...single.flatMap((key) =>
      key === "items" && Array.isArray(schema[key]) ? inList(node, key, schema[key]) : inSingle(node, key, schema[key]),
    ),
    ...listsOf.flatMap((key) => inList(node, key, schema[key])),
  ];
};

const child = (node: SchemaNode, value: unknown, steps: readonly string[]): SchemaNode => ({
  value,
  pointer: join(node.pointer, ...steps),
  steps: [...node.steps, ...steps],
  depth: node.depth + (steps[0] === "properties" || steps[0] === "items" ? 1 : 0),
});

const inSingle = (node: SchemaNode, key: string, value: unknown): readonly SchemaNode[] =>
  value === undefined || typeof value === "boolean" ? [] : [child(node, value, [key])];

const inList = (node: SchemaNode, key: string, value: unknown): readonly SchemaNode[] =>
  Array.isArray(value) ? value.map((item, index) => child(node, item, [key, String(index)])) : [];

const inMap = (node: SchemaNode, key: string, value: unknown): readonly SchemaNode[] =>
  isObject(value) ? Object.entries(value).map(([name, item]) => child(node, item, [key, name])) : [];

/** The types a schema names, as a list. */
export const typesOf = (schema: Record<string, unknown>): readonly unknown[] => {
  const { type } = schema;
  return type === undefined ? [] : Array.isArray(type) ? type : [type];
};
