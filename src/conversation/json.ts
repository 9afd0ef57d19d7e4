/** Any value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Replaces a circular reference in JSON data.
 *
 * @internal Exported for its tests.
 */
export const cycleMarker = "[circular reference]";

/** Whether a value is a plain object, not an array and not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Plain JSON data, and whether a circular reference was cut to get it. */
export type PlainJson = { readonly value: JsonValue; readonly isCyclic: boolean };

/**
 * Copies a value as plain JSON data: circular references become a marker, lone surrogates are repaired, maps become
 * objects, sets and typed arrays become lists, and what JSON cannot hold is dropped, as `JSON.stringify` does. `replace`
 * may return a replacement for an object.
 */
export const toPlainJson = (value: unknown, replace?: (node: object) => JsonValue | undefined): PlainJson => {
  let cyclic = false;
  const walk = (node: unknown, parents: readonly object[]): JsonValue | undefined => {
    if (typeof node === "string") return node.toWellFormed();
    if (typeof node === "number") return Number.isFinite(node) ? node : null;
    if (typeof node === "boolean" || node === null) return node;
    if (typeof node === "bigint") return node.toString();
    if (typeof node !== "object") return undefined;
    if (parents.includes(node)) {
      cyclic = true;
      return cycleMarker;
    }
    const instead = replace?.(node);
    if (instead !== undefined) return instead;
    if (hasToJson(node)) return walk(node.toJSON(), [...parents, node]);
    const within = [...parents, node];
    const list = asList(node);
    if (list !== undefined) return list.map((item) => walk(item, within) ?? null);
    const entries: [string, JsonValue][] = [];
    for (const [key, item] of node instanceof Map ? node : Object.entries(node)) {
      const plain = walk(item, within);
      if (plain !== undefined) entries.push([String(key).toWellFormed(), plain]);
    }
    return Object.fromEntries(entries);
  };
  const plain = walk(value, []);
  return { value: plain ?? null, isCyclic: cyclic };
};

const hasToJson = (node: object): node is { toJSON: () => unknown } =>
  "toJSON" in node && typeof node.toJSON === "function";

/** Returns the items of an array, set or typed array; undefined for anything else. */
const asList = (node: object): readonly unknown[] | undefined => {
  if (Array.isArray(node)) return node;
  if (node instanceof Set) return [...node];
  return ArrayBuffer.isView(node) && !(node instanceof DataView) ? Array.from(node as Uint8Array) : undefined;
};
