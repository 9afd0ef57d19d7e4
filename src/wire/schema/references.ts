import { isObject, type JsonObject } from "../../conversation/json.ts";
import { mergeSchemas, maxReferences } from "./merge.ts";
import {
  appendDescription,
  mapSubschemas,
  resolveReference,
  unescapePointer,
  type SchemaChanges,
  type JsonSchemaNode,
} from "./walk.ts";

/** Returns a placeholder for a schema that is not expanded. */
const placeholderFor = (reference: string): JsonObject => ({
  type: "object",
  description: `The shape ${definitionName(reference)}, not written out here.`,
});

/**
 * Redirects every reference for which `keeps` is false into `$defs`, and copies its target in `before` there. `lost` says
 * what happens to a dangling reference.
 */
export const hoistRefs = (
  schema: JsonObject,
  { before, keeps, lost }: { before: JsonObject; keeps: (reference: string) => boolean; lost: "keep" | "replace" },
  changes: SchemaChanges,
): JsonObject => {
  const names = new Map<string, string>();
  const taken = new Set(isObject(schema["$defs"]) ? Object.keys(schema["$defs"]) : []);
  const waiting: { readonly name: string; readonly target: JsonSchemaNode }[] = [];
  const nameFor = (reference: string, target: JsonSchemaNode): string => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const plain = definitionName(reference).replaceAll(/[^A-Za-z0-9_.-]/g, "_");
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
    names.set(reference, name);
    taken.add(name);
    waiting.push({ name, target });
    return name;
  };
  const visit = (node: JsonSchemaNode): JsonSchemaNode => {
    if (typeof node === "boolean") return node;
    const inner = mapSubschemas(node, visit);
    const { $ref: reference, ...own } = inner;
    if (typeof reference !== "string" || keeps(reference)) return inner;
    const target = resolveReference(before, reference);
    if (target === undefined) {
      if (lost === "keep") return inner;
      changes.done.add("references to nothing were replaced");
      return mergeSchemas(own, placeholderFor(reference));
    }
    changes.done.add("references point into $defs");
    return { ...own, $ref: `#/$defs/${nameFor(reference, target)}` };
  };
  const top = visit(schema) as JsonObject;
  const hoisted: [string, JsonSchemaNode][] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    hoisted.push([next.name, visit(next.target)]);
  if (hoisted.length === 0) return top;
  const kept = isObject(top["$defs"]) ? Object.entries(top["$defs"]) : [];
  return { ...top, $defs: Object.fromEntries([...kept, ...hoisted]) };
};

/** Replaces every reference by its target. Recursive references are cut by a placeholder. */
export const inlineRefs = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  let left = maxReferences;
  const visit = (node: JsonSchemaNode, open: readonly string[]): JsonSchemaNode => {
    if (typeof node === "boolean") return node;
    const { $ref: reference, ...own } = node;
    if (typeof reference !== "string") return mapSubschemas(node, (inner) => visit(inner, open));
    changes.done.add("references were inlined");
    const rest = mapSubschemas(own, (inner) => visit(inner, open));
    const target = open.includes(reference) || left <= 0 ? undefined : resolveReference(schema, reference);
    if (target === undefined) return mergeSchemas(rest, placeholderFor(reference));
    left--;
    const shape = visit(target, [...open, reference]);
    if (isObject(shape)) return mergeSchemas(rest, shape);
    return shape ? rest : appendDescription(rest, "Must not be given.");
  };
  return visit(schema, ["#"]) as JsonObject;
};

const definitionName = (reference: string): string => {
  const name = unescapePointer(reference.split(/[/#]/).at(-1) ?? "");
  return name === "" ? "of the whole" : name;
};
