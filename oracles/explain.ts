import { resolveReference, type Schema, type SchemaFile } from "./schema.ts";

/**
 * Explains why a value does not match its schema, one line per fault: `/messages/1: missing "tool_call_id"`. A
 * validator lists the faults of every branch of a union. Here the value's own `type` and `role` select the branch
 * first. Empty when no fault is found; the validator decides whether a value is valid.
 */
export const explainMismatch = (value: unknown, file: SchemaFile): readonly string[] =>
  faultsIn(value, file, "", file).map(({ at, text }) => `${at === "" ? "/" : at}: ${text}`);

type SchemaFault = { readonly at: string; readonly text: string };
type Fields = { readonly [name: string]: unknown };

const faultsIn = (value: unknown, schema: Schema, at: string, file: SchemaFile): readonly SchemaFault[] => {
  const branches = branchesOf(schema, file);
  const fitting = branches.filter((branch) => fitsType(value, branch));
  if (fitting.length === 0) {
    const types = new Set(branches.flatMap(({ type }) => type ?? []));
    return [{ at, text: `expected ${[...types].join(" or ")}, got ${kindOf(value)}` }];
  }
  if (!isFields(value)) return fewest(fitting.map((branch) => faultsInBranch(value, branch, at, file)));

  for (const tag of tags) {
    const known = fitting.flatMap((branch) => tagOf(branch, tag, file) ?? []);
    if (known.length > 0 && !fitting.some((branch) => fitsTag(value, tag, branch, file))) {
      return [{ at: `${at}/${tag}`, text: `${show(value[tag])} is not ${choices(known)}` }];
    }
  }
  const meant = fitting.filter((branch) => tags.every((tag) => fitsTag(value, tag, branch, file)));
  return fewest((meant.length > 0 ? meant : fitting).map((branch) => faultsInObject(value, branch, at, file)));
};

const faultsInBranch = (value: unknown, schema: Schema, at: string, file: SchemaFile): readonly SchemaFault[] => {
  if (!fitsChoice(value, schema)) return [{ at, text: `${show(value)} is not ${choices([schema])}` }];
  if (typeof value === "string" && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    return [{ at, text: `${show(value)} does not match ${schema.pattern}` }];
  }
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => faultsIn(item, schema.items ?? {}, `${at}/${index}`, file));
};

const faultsInObject = (value: Fields, schema: Schema, at: string, file: SchemaFile): readonly SchemaFault[] => {
  const names = Object.keys(value);
  const rest = schema.additionalProperties ?? true;
  const missing = (schema.required ?? []).filter((name) => !(name in value));
  return [
    ...missing.map((name) => ({ at, text: `missing "${name}"` })),
    ...names.flatMap((name) => {
      const known = schema.properties?.[name] ?? (rest === true ? {} : rest);
      if (known === false) return [{ at, text: `unknown field "${name}"` }];
      return faultsIn(value[name], known, `${at}/${name}`, file);
    }),
    ...faultsInCount(names, schema, at),
  ];
};

const faultsInCount = (names: readonly string[], schema: Schema, at: string): readonly SchemaFault[] => {
  const { minProperties = 0, maxProperties = Infinity, properties = {} } = schema;
  const oneofs = (schema.allOf ?? []).map(({ oneOf = [] }) => oneOf.flatMap(({ required = [] }) => required));
  const groups = [...oneofs, ...(maxProperties === 1 ? [Object.keys(properties)] : [])];
  const set = groups.map((group) => names.filter((name) => group.includes(name))).filter(({ length }) => length > 1);
  return [
    ...(names.length < minProperties ? [{ at, text: `one of ${quote(Object.keys(properties))} must be set` }] : []),
    ...set.map((clash) => ({ at, text: `only one of ${quote(clash)} may be set` })),
  ];
};

/** The properties that identify the kind of a message or part. */
const tags = ["type", "role"];

const tagOf = (branch: Schema, tag: string, file: SchemaFile): Schema | undefined => {
  const property = branch.properties?.[tag];
  return property === undefined ? undefined : resolveReference(property, file);
};

const fitsTag = (value: Fields, tag: string, branch: Schema, file: SchemaFile): boolean => {
  if (!(tag in value)) return true;
  const schema = tagOf(branch, tag, file);
  return schema === undefined ? branch.additionalProperties !== false : fitsChoice(value[tag], schema);
};

const branchesOf = (reference: Schema, file: SchemaFile): readonly Schema[] => {
  const schema = resolveReference(reference, file);
  return schema.anyOf?.flatMap((branch) => branchesOf(branch, file)) ?? [schema];
};

/** The branch with the fewest faults; among equals, the one with the deepest fault. */
const fewest = (results: readonly (readonly SchemaFault[])[]): readonly SchemaFault[] => {
  const depth = (faults: readonly SchemaFault[]) => Math.max(0, ...faults.map(({ at }) => at.split("/").length));
  return results.toSorted((one, other) => one.length - other.length || depth(other) - depth(one))[0] ?? [];
};

const fitsType = (value: unknown, { type }: Schema): boolean => {
  const types = [type ?? []].flat();
  return types.length === 0 || types.includes(kindOf(value)) || (types.includes("integer") && Number.isInteger(value));
};

const fitsChoice = (value: unknown, schema: Schema): boolean =>
  (schema.enum === undefined || schema.enum.includes(value)) && (!("const" in schema) || schema.const === value);

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

const isFields = (value: unknown): value is Fields => kindOf(value) === "object";

const choices = (schemas: readonly Schema[]): string => {
  const values = schemas.flatMap((schema) => schema.enum ?? ("const" in schema ? [schema.const] : []));
  return [...new Set(values)].map(show).join(", ");
};

const quote = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const show = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};
