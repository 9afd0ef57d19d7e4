import { readFileSync } from "node:fs";
import protobuf from "protobufjs";

/**
 * The schema of a message as proto3 JSON: camelCase names, enums and bytes as text, Struct and Value as any JSON, at
 * most one field of each oneof. `lagging` adds fields the REST API has and the published proto does not.
 */
export function fromProtos({ sdk, message, lagging }) {
  const file = new URL(`../node_modules/${sdk}/build/protos/protos.json`, import.meta.url);
  const root = protobuf.Root.fromJSON(JSON.parse(readFileSync(file)));
  const scope = message.slice(0, message.lastIndexOf(".") + 1);
  const definitions = {};

  const define = (type) => {
    const name = type.fullName.slice(1).replace(scope, "");
    if (!(name in definitions)) {
      definitions[name] = {};
      definitions[name] = type instanceof protobuf.Enum ? enumSchema(type) : messageSchema(type, define);
    }
    return { $ref: `#/definitions/${name}` };
  };

  const { $ref } = define(root.lookupType(message));
  for (const field of lagging) add(definitions, field);
  return { $ref, definitions };
}

const enumSchema = (type) => ({ type: "string", enum: Object.keys(type.values) });

function messageSchema(type, define) {
  const oneofs = type.oneofsArray.filter(({ name }) => !name.startsWith("_"));
  return {
    type: "object",
    properties: Object.fromEntries(type.fieldsArray.map((field) => [field.name, fieldSchema(field.resolve(), define)])),
    additionalProperties: false,
    ...(oneofs.length > 0 && { allOf: oneofs.map((oneof) => atMostOne(oneof.fieldsArray.map(({ name }) => name))) }),
  };
}

/** At most one of these properties. */
const atMostOne = (names) => ({
  oneOf: [
    ...names.map((name) => ({ required: [name] })),
    { not: { anyOf: names.map((name) => ({ required: [name] })) } },
  ],
});

function fieldSchema(field, define) {
  const value = valueSchema(field, define);
  if (field.map) return { type: "object", additionalProperties: value };
  return field.repeated ? { type: "array", items: value } : value;
}

const text = { type: "string" };
const number = { type: "number" };
const integer = { type: "integer" };
const int64 = { type: ["integer", "string"] };

const scalars = {
  string: text,
  bool: { type: "boolean" },
  bytes: { type: "string", pattern: "^[A-Za-z0-9+/_-]*={0,2}$" },
  float: number,
  double: number,
  int32: integer,
  uint32: integer,
  int64,
  uint64: int64,
};

const wellKnown = {
  ".google.protobuf.Struct": { type: "object" },
  ".google.protobuf.Value": {},
  ".google.protobuf.ListValue": { type: "array" },
  ".google.protobuf.NullValue": { type: "null" },
  ".google.protobuf.Duration": text,
  ".google.protobuf.Timestamp": text,
};

function valueSchema({ type, resolvedType }, define) {
  const schema = resolvedType ? (wellKnown[resolvedType.fullName] ?? define(resolvedType)) : scalars[type];
  if (!schema) throw new Error(`No JSON form known for ${type}`);
  return schema;
}

function add(definitions, { of, field, schema, oneof }) {
  const { properties, allOf } = definitions[of];
  if (field in properties) throw new Error(`The proto has caught up: remove ${of}.${field} from the lagging list`);
  properties[field] = schema;
  if (!oneof) return;
  const group = allOf.findIndex(({ oneOf }) => oneOf.some(({ required }) => required?.includes(oneof)));
  const names = allOf[group].oneOf.flatMap(({ required }) => required ?? []);
  allOf[group] = atMostOne([...names, field]);
}
