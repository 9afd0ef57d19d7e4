/** Any value that survives JSON. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** What stands where a value pointed back at one of its own parents. */
export const cycleMarker = "[circular reference]";

/** Whether a value is a plain object, not an array and not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A plain value, and what had to be changed to make it one. */
export type Plain = { readonly value: JsonValue; readonly cyclic: boolean };

/**
 * The same value as readonly JSON data: cycles are cut with a marker, lone
 * surrogates repaired, and what JSON cannot hold is dropped as JSON would.
 */
export const toPlain = (value: unknown): Plain => {
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
    if (hasToJson(node)) return walk(node.toJSON(), [...parents, node]);
    const within = [...parents, node];
    if (Array.isArray(node)) return node.map((item) => walk(item, within) ?? null);
    const entries: [string, JsonValue][] = [];
    for (const [key, item] of Object.entries(node)) {
      const plain = walk(item, within);
      if (plain !== undefined) entries.push([key.toWellFormed(), plain]);
    }
    return Object.fromEntries(entries);
  };
  const plain = walk(value, []);
  return { value: plain ?? null, cyclic };
};

const hasToJson = (node: object): node is { toJSON: () => unknown } =>
  "toJSON" in node && typeof node.toJSON === "function";
