import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { explain } from "./explain.ts";
import { oracles, type Extension, type Oracle, type OracleName } from "./providers.ts";
import type { Schema, SchemaFile } from "./schema.ts";

export { oracleNames, type OracleName } from "./providers.ts";

/**
 * What the vendor's own types object to in a request body; empty when they accept it.
 *
 * The body is read as it would travel: a property that is `undefined` is not there. Each problem starts with a
 * JSON pointer: `/messages/2: unknown field "reasoning_content"`.
 */
export const checkBody = (name: OracleName, body: unknown): readonly string[] => {
  const found = checkers.get(name);
  if (found !== undefined) return found(body);
  const made = makeChecker(oracles[name]);
  checkers.set(name, made);
  return made(body);
};

type Checker = (body: unknown) => readonly string[];

// Compiling a schema takes up to half a second and gives the same function every time.
const checkers = new Map<OracleName, Checker>();

const makeChecker = ({ file, extensions }: Oracle): Checker => {
  const text = readFileSync(new URL(`schemas/${file}`, import.meta.url), "utf8");
  const schema = extensions.reduce(extend, JSON.parse(text) as SchemaFile);
  const ajv = new Ajv({ strict: false });
  const validate = ajv.compile(schema);
  return (body) => {
    const sent: unknown = JSON.parse(JSON.stringify(body));
    if (validate(sent)) return [];
    const problems = explain(sent, schema);
    return problems.length > 0 ? problems : [ajv.errorsText(validate.errors, { dataVar: "" })];
  };
};

const extend = (schema: SchemaFile, extension: Extension): SchemaFile => {
  const definition = schema.definitions[extension.of];
  if (definition === undefined) throw new Error(`No ${extension.of} to extend: ${extension.reason}`);
  return { ...schema, definitions: { ...schema.definitions, [extension.of]: widen(definition, extension) } };
};

const widen = (definition: Schema, extension: Extension): Schema =>
  "field" in extension
    ? { ...definition, properties: { ...definition.properties, [extension.field]: extension.schema } }
    : { anyOf: [definition, extension.schema] };
