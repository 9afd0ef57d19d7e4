/** Depth to which a value is split; deeper values are small enough to be serialized at once. */
const maxDepth = 4;

/** Yields `JSON.stringify(value, null, 2)` in chunks, so that a large value is not held in memory twice. */
export function* jsonChunks(value: unknown, depth = 0): Generator<string> {
  const isSmall = typeof value !== "object" || value === null || depth === maxDepth || "toJSON" in value;
  const entries = isSmall
    ? []
    : Object.entries(value).filter(([, each]) => Array.isArray(value) || isSerializable(each));
  const indent = "  ".repeat(depth);
  if (isSmall || entries.length === 0) {
    yield (JSON.stringify(value, null, 2) ?? "null").replaceAll("\n", `\n${indent}`);
    return;
  }
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  let before = open;
  for (const [key, each] of entries) {
    yield `${before}\n${indent}  ${Array.isArray(value) ? "" : `${JSON.stringify(key)}: `}`;
    yield* jsonChunks(each, depth + 1);
    before = ",";
  }
  yield `\n${indent}${close}`;
}

const isSerializable = (value: unknown): boolean =>
  value !== undefined && typeof value !== "function" && typeof value !== "symbol";
