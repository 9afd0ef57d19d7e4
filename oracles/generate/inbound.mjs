/**
 * The schema of a server's responses, from a client's camelCase types: names are converted back to the wire format, and
 * placeholders for unknown values are left out, because unknown values are errors here.
 */
export function asReceived({ $ref, definitions }) {
  const kept = Object.entries(definitions).filter(([name]) => !isStandIn(name) && !isHelper(name));
  return {
    $ref,
    definitions: Object.fromEntries(kept.map(([name, schema]) => [name, onTheWire(schema, definitions)])),
  };
}

/** `Unrecognized<string>` and the like. */
const isStandIn = (name) => /^(Unrecognized|Unknown|discriminatedUnionTypes)\b/.test(name);

/** `OpenEnum<...>`: its name contains a source location and its schema is short. */
const isHelper = (name) => /^(Open|Closed)Enum\b/.test(name);

const nameOf = ({ $ref = "" }) => $ref.replace("#/definitions/", "");

function onTheWire(schema, definitions) {
  if (Array.isArray(schema)) return schema.map((item) => onTheWire(item, definitions));
  if (schema === null || typeof schema !== "object") return schema;
  if (isHelper(nameOf(schema))) return onTheWire(definitions[nameOf(schema)], definitions);
  const { properties, required, anyOf, ...rest } = schema;
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, onTheWire(value, definitions)]));
  const known = anyOf?.filter((branch) => !isStandIn(nameOf(branch))).map((branch) => onTheWire(branch, definitions));
  return {
    ...copy,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, held]) => [snake(name), onTheWire(held, definitions)]),
      ),
    }),
    ...(required && { required: required.map(snake) }),
    ...(known && (known.length === 1 ? known[0] : { anyOf: known })),
  };
}

const snake = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
