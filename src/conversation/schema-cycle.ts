import { isObject } from "./json.ts";

/**
 * Whether a JSON schema is recursive, by a `$ref` or by containing itself. Some APIs refuse the whole request because of
 * such a tool, as nested too deep.
 */
export const hasSchemaCycle = (schema: unknown): boolean => {
  const root = schema;
  const done = new Set<object>();
  const isCyclic = (node: unknown, path: ReadonlySet<object>): boolean => {
    if (typeof node !== "object" || node === null) return false;
    if (path.has(node)) return true;
    if (done.has(node)) return false;
    const within = new Set(path).add(node);
    const reference = isObject(node) ? node["$ref"] : undefined;
    const target = typeof reference === "string" ? resolveReference(root, reference) : undefined;
    const found = isCyclic(target, within) || Object.values(node).some((item) => isCyclic(item, within));
    done.add(node);
    return found;
  };
  return isCyclic(schema, new Set());
};

const resolveReference = (root: unknown, reference: string): unknown =>
  reference.startsWith("#")
    ? reference
        .slice(1)
        .split("/")
        .slice(1)
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
        .reduce<unknown>(
          (node, name) =>
            typeof node === "object" && node !== null && Object.hasOwn(node, name)
              ? (node as Record<string, unknown>)[name]
              : undefined,
          root,
        )
    : undefined;
