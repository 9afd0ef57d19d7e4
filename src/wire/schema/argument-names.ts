import { parseCallInput, type RawCallInput } from "../../conversation/call-input.ts";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { withRenamedKeys } from "../../transcript/argument-keys.ts";
import { hoistRefs } from "./references.ts";
import { propertiesOf, requiredOf, resolveReference, type SchemaChanges } from "./walk.ts";

/** Renamed arguments of one tool: own name to the name the API accepts. */
export type ArgumentNames = ReadonlyMap<string, string>;

/** Anthropic's pattern for argument names. */
const plainKey = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * Renames every top-level argument whose name Anthropic does not accept, wherever the top level refers to it.
 *
 * Nested properties may have any name. The new names are recorded in `changes.renamed`.
 */
export const renameArguments = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const names = plainNames(Object.keys(propertiesOf(schema)));
  if (names.size === 0) return schema;
  for (const [key, name] of names) {
    changes.renamed.set(key, name);
    changes.done.add(`the argument ${JSON.stringify(key.slice(0, 80))} is called ${name}`);
  }
  const renamed = renameIn(schema, names);
  const keeps = (reference: string): boolean => reference !== "#" && resolveReference(renamed, reference) !== undefined;
  return hoistRefs(renamed, { before: schema, keeps, lost: "keep" }, changes);
};

/** Returns an unused accepted name for every key that is not accepted. */
const plainNames = (keys: readonly string[]): ArgumentNames => {
  const taken = new Set(keys);
  const names = new Map<string, string>();
  for (const key of keys) {
    if (plainKey.test(key)) continue;
    const plain = key.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 56) || "_";
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
    names.set(key, name);
    taken.add(name);
  }
  return names;
};

const renameIn = (schema: JsonObject, names: ArgumentNames): JsonObject => {
  const changed: Record<string, JsonValue> = { ...schema };
  const change = (key: string, to: (value: JsonObject) => JsonValue): void => {
    const value = schema[key];
    if (isObject(value)) changed[key] = to(value);
  };
  change("properties", (properties) => withRenamedKeys(properties, names));
  if (Array.isArray(schema["required"])) changed["required"] = requiredOf(schema).map((key) => names.get(key) ?? key);
  change("dependentRequired", (needs) =>
    withRenamedKeys(
      Object.fromEntries(
        Object.entries(needs).map(([key, others]) => [
          key,
          Array.isArray(others)
            ? others.map((other: JsonValue) => (typeof other === "string" ? (names.get(other) ?? other) : other))
            : others,
        ]),
      ),
      names,
    ),
  );
  change("dependentSchemas", (needs) =>
    withRenamedKeys(
      Object.fromEntries(
        Object.entries(needs).map(([key, inner]) => [key, isObject(inner) ? renameIn(inner, names) : inner]),
      ),
      names,
    ),
  );
  for (const key of ["if", "then", "else", "not"]) change(key, (inner) => renameIn(inner, names));
  change("default", (given) => withRenamedKeys(given, names));
  return changed;
};

/** Renames the arguments of a call back to the tool's own argument names. */
export const restoreArgumentNames = (input: RawCallInput, names: ArgumentNames): RawCallInput => {
  if ("value" in input)
    return isObject(input.value) ? { value: restoreNames(input.value as JsonObject, names) } : input;
  const value = parseCallInput(input);
  if (value.type !== "parsed") return input;
  const restored = restoreNames(value.value, names);
  return restored === value.value ? input : { text: JSON.stringify(restored) };
};

/** An argument the model also passed under its own name is not overwritten. */
const restoreNames = (value: JsonObject, names: ArgumentNames): JsonObject =>
  withRenamedKeys(
    value,
    new Map([...names].flatMap(([key, name]) => (Object.hasOwn(value, key) ? [] : [[name, key] as const]))),
  );
