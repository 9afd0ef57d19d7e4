/**
 * Simplifies a schema without changing the values it accepts: aliases of `string` are inlined, `const | const` becomes
 * one `enum`, unused definitions are dropped, and names need no escaping in a pointer.
 */
export function tidy(generated) {
  const schema = renamed(generated);
  const root = target(schema, schema);
  const definitions = Object.fromEntries(
    Object.entries(schema.definitions).map(([name, definition]) => [name, simplify(definition, schema)]),
  );
  const used = new Set();
  const visit = (name) => {
    if (used.has(name)) return;
    used.add(name);
    references(definitions[name]).forEach(visit);
  };
  visit(root);
  return {
    $ref: `#/definitions/${root}`,
    definitions: Object.fromEntries(Object.entries(definitions).filter(([name]) => used.has(name))),
  };
}

const nameOf = ($ref) => $ref.replace("#/definitions/", "");

/** `ChatRequest$Outbound` as `ChatRequest`, `Record<string,string>` as `Record_string_string`. */
function renamed(schema) {
  const plain = (name) =>
    name
      .replaceAll("$Outbound", "")
      .replace(/[^\w.]+/g, "_")
      .replace(/_$/, "");
  const names = Object.keys(schema.definitions).map(plain);
  if (new Set(names).size < names.length) throw new Error("Two definitions would get one name");
  const definitions = Object.fromEntries(Object.values(schema.definitions).map((value, at) => [names[at], value]));
  return JSON.parse(JSON.stringify({ ...schema, definitions }), (key, value) =>
    key === "$ref" && typeof value === "string" ? `#/definitions/${plain(nameOf(value))}` : value,
  );
}

function target({ $ref }, schema) {
  const name = nameOf($ref);
  const definition = schema.definitions[name];
  return definition.$ref ? target(definition, schema) : name;
}

function references(schema) {
  if (Array.isArray(schema)) return schema.flatMap(references);
  if (schema === null || typeof schema !== "object") return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [nameOf(value)] : references(value),
  );
}

function simplify(schema, root) {
  if (Array.isArray(schema)) return schema.map((item) => simplify(item, root));
  if (schema === null || typeof schema !== "object") return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, simplify(value, root)]));
  return Array.isArray(copy.anyOf) ? simplifyUnion(copy, root) : copy;
}

function simplifyUnion({ anyOf, ...rest }, root) {
  const resolved = (branch) => (branch.$ref ? resolved(root.definitions[nameOf(branch.$ref)]) : branch);
  const isAnyString = (branch) => branch.type === "string" && !("enum" in branch) && !("const" in branch);
  const isNamedString = (branch) => resolved(branch).type === "string" && !isAnyString(resolved(branch));
  if (anyOf.some(isAnyString))
    return union(
      anyOf.filter((branch) => !isNamedString(branch)),
      rest,
    );
  const constants = anyOf.filter((branch) => branch.type === "string" && "const" in branch);
  if (constants.length < 2) return union(anyOf, rest);
  const choice = { type: "string", enum: constants.map((branch) => branch.const) };
  return union([choice, ...anyOf.filter((branch) => !constants.includes(branch))], rest);
}

const union = (anyOf, rest) => (anyOf.length === 1 ? { ...rest, ...anyOf[0] } : { ...rest, anyOf });
