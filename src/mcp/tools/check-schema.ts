import { isObject } from "../../conversation/json.ts";

/**
 * Why parameters cannot be sent to models, or undefined where they can. Every parameter must have a type: itself, in
 * all members of a combination, or through a reference within the same schema. External references are never followed.
 * A recursive schema is fine; one too deep or too long is not.
 */
export const findSchemaProblem = (schema: unknown): string | undefined => {
  if (!isObject(schema)) return "its parameters are not described by an object";
  if (JSON.stringify(schema).length > maxSchemaLength) return "the description of its parameters is too long";
  const external = findExternalReference(schema);
  if (external !== undefined) return `its parameters refer to ${shorten(external)}, which is outside the schema`;
  try {
    new SchemaChecker(schema).check(schema, "", 0);
    return undefined;
  } catch (error) {
    if (error instanceof ParameterProblem) return error.message;
    throw error;
  }
};

/** The first reference that leads out of the schema. */
const findExternalReference = (schema: object): string | undefined => {
  const open: unknown[] = [schema];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== "object" || node === null) continue;
    const reference = "$ref" in node ? node.$ref : undefined;
    if (typeof reference === "string" && !reference.startsWith("#")) return reference;
    open.push(...(Object.values(node) as unknown[]));
  }
  return undefined;
};

const maxSchemaLength = 200_000;
const maxDepth = 40;
const maxSteps = 20_000;

class ParameterProblem extends Error {}

class SchemaChecker {
  readonly #root: Readonly<Record<string, unknown>>;
  readonly #passed = new Set<object>();
  #steps = 0;

  constructor(root: Readonly<Record<string, unknown>>) {
    this.#root = root;
  }

  check(schema: unknown, at: string, depth: number): void {
    // A schema that is not an object (true, false) needs no type.
    if (!isObject(schema) || this.#passed.has(schema)) return;
    this.#passed.add(schema);
    this.#steps += 1;
    if (depth > maxDepth || this.#steps > maxSteps) throw new ParameterProblem("its parameters are nested too deeply");
    if (typeof schema["$ref"] === "string") return this.check(this.#target(schema["$ref"], at), at, depth + 1);
    const combined = ["anyOf", "allOf", "oneOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
    if (schema["type"] === undefined) {
      if (combined.length === 0) throw new ParameterProblem(`${describePlace(at)} no type`);
      for (const member of combined) this.check(member, at, depth + 1);
    }
    for (const [name, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}))
      this.check(property, `${at}.${shorten(name)}`, depth + 1);
    for (const item of [schema["items"]].flat()) this.check(item, `${at}[]`, depth + 1);
  }

  #target(reference: string, at: string): unknown {
    const names = reference.slice(1).split("/").slice(1);
    const found = names.reduce<unknown>((node, name) => memberOf(node, decodePointer(name)), this.#root);
    if (found === undefined)
      throw new ParameterProblem(`${describePlace(at)} a reference to ${shorten(reference)}, which does not exist`);
    return found;
  }
}

const describePlace = (at: string): string =>
  at === "" ? "its parameters have" : `the parameter ${at.replace(/^\./, "")} has`;

const memberOf = (node: unknown, name: string): unknown => {
  if (Array.isArray(node)) return node[Number(name)];
  return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
};

const decodePointer = (name: string): string => {
  try {
    return decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return name;
  }
};

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}...` : text);
