import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fromTypes } from "./from-types.mjs";

/**
 * The schema of AWS bodies. The SDK's types describe objects in memory, so three things are converted to the wire
 * format: `bytes` is base64 text; a member without `?` is required by the service model although its type says `|
 * undefined`; and a union is one object with exactly one of its members, never an unknown one.
 */
export function fromAws({ sdk, types, inPath = [] }) {
  const models = new URL(`../node_modules/${sdk}/dist-types/models/`, import.meta.url);
  const copy = new URL("../.cache/aws/", import.meta.url);
  mkdirSync(copy, { recursive: true });
  writeFileSync(new URL("enums.d.ts", copy), readFileSync(new URL("enums.d.ts", models)));
  writeFileSync(new URL("models.d.ts", copy), onTheWire(readFileSync(new URL("models_0.d.ts", models), "utf8")));

  const schema = fromTypes({ module: "./aws/models", types });
  const definitions = Object.fromEntries(
    Object.entries(schema.definitions).map(([name, definition]) => [name, unionAsObject(definition, schema)]),
  );
  definitions.Base64 = { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$" };
  for (const type of types) for (const member of inPath) drop(definitions[type], member);
  return { ...schema, definitions };
}

function onTheWire(source) {
  return (
    source
      // Errors are classes in memory and text on the wire.
      .replace(/^import type \{ (.*) \} from "\.\/errors";$/m, (_, names) =>
        names.replaceAll(/(\w+)(, )?/g, "type $1 = { message?: string };\n"),
      )
      .replace(/^import type .* from "@smithy\/types";$/m, "type __DocumentType = unknown;\ntype Base64 = string;")
      .replaceAll("Uint8Array", "Base64")
      .replace(/^( +\w+): (.*) \| undefined;$/gm, "$1: $2;")
      .replace(/ \| \w+\.\$UnknownMember;$/gm, ";")
  );
}

/**
 * `{ text } | { image }` as `{ text?, image? }` with exactly one property: the same set of values with readable errors.
 */
function unionAsObject(definition, { definitions }) {
  const branches = (definition.anyOf ?? [definition]).map(({ $ref }) => $ref?.replace("#/definitions/", ""));
  if (!branches.every((name) => name?.endsWith("Member"))) return definition;
  const properties = Object.assign({}, ...branches.map((name) => definitions[name].properties));
  return { type: "object", properties, minProperties: 1, maxProperties: 1, additionalProperties: false };
}

function drop(definition, member) {
  delete definition.properties[member];
  definition.required = definition.required?.filter((name) => name !== member);
}
