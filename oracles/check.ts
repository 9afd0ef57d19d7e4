import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { responseOracles } from "./responses.ts";
import { explainMismatch } from "./explain.ts";
import { oracles, type Extension, type Oracle, type OracleName } from "./providers.ts";
import type { Schema, SchemaFile } from "./schema.ts";

export { oracleNames, type OracleName } from "./providers.ts";

/**
 * Checks a request body against the vendor's own types; empty when they accept it. The body is read as it is sent: a
 * property that is `undefined` is absent. Each problem starts with a JSON pointer: `/messages/2: unknown field
 * "reasoning_content"`.
 */
export const checkBody = (name: OracleName, body: unknown): readonly string[] =>
  checkerFor(name, () => oracles[name])(body);

/** Checks a provider's response: a complete one, or one event of its stream. `alone` means without our extensions. */
export const checkResponse = (
  name: string,
  kind: "whole" | "event",
  answer: unknown,
  { alone = false }: { readonly alone?: boolean } = {},
): readonly string[] =>
  checkerFor(`${name} ${kind} ${alone}`, () => {
    const oracle = responseOracles[name];
    if (oracle === undefined) throw new Error(`No types are known for what ${name} answers`);
    return { file: oracle.file, extensions: alone ? [] : oracle.extensions, root: oracle[kind] };
  })(answer);

type BodyChecker = (body: unknown) => readonly string[];

// Compiling a schema takes up to half a second and gives the same function every time.
const checkers = new Map<string, BodyChecker>();

const checkerFor = (name: string, oracle: () => Oracle & { readonly root?: string }): BodyChecker => {
  const found = checkers.get(name);
  if (found !== undefined) return found;
  const made = makeChecker(oracle());
  checkers.set(name, made);
  return made;
};

const makeChecker = ({ file, extensions, root }: Oracle & { readonly root?: string }): BodyChecker => {
  const text = readFileSync(new URL(`schemas/${file}`, import.meta.url), "utf8");
  const read = JSON.parse(text) as SchemaFile;
  const schema = extensions.reduce(extend, root === undefined ? read : { ...read, $ref: `#/definitions/${root}` });
  const ajv = new Ajv({ strict: false });
  const validate = ajv.compile(schema);
  return (body) => {
    const sent: unknown = JSON.parse(JSON.stringify(body));
    if (validate(sent)) return [];
    const problems = explainMismatch(sent, schema);
    return problems.length > 0 ? problems : [ajv.errorsText(validate.errors, { dataVar: "" })];
  };
};

const extend = (schema: SchemaFile, extension: Extension): SchemaFile => {
  const definition = schema.definitions[extension.of];
  if (definition === undefined) throw new Error(`No ${extension.of} to extend: ${extension.reason}`);
  return { ...schema, definitions: { ...schema.definitions, [extension.of]: widen(definition, extension) } };
};

const widen = (definition: Schema, extension: Extension): Schema => {
  if ("field" in extension)
    return { ...definition, properties: { ...definition.properties, [extension.field]: extension.schema } };
  if ("alternative" in extension) return { anyOf: [definition, extension.schema] };
  return { ...definition, required: (definition.required ?? []).filter((name) => name !== extension.optional) };
};
