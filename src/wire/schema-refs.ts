import { isObject, type JsonObject } from "../conversation/json.ts";
import { both, followed } from "./schema-merge.ts";
import { described, mapInner, resolve, unescaped, type Changes, type Schema } from "./schema-walk.ts";

/** What stands for a shape that is not written out. */
const elsewhere = (reference: string): JsonObject => ({
  type: "object",
  description: `The shape ${nameOf(reference)}, not written out here.`,
});

/**
 * Every reference for which `keeps` is false points into `$defs` instead, where
 * what it pointed at in `before` now stands; `lost` says what becomes of one
 * that pointed at nothing.
 */
export const hoistRefs = (
  schema: JsonObject,
  { before, keeps, lost }: { before: JsonObject; keeps: (reference: string) => boolean; lost: "keep" | "replace" },
  changes: Changes,
): JsonObject => {
  const names = new Map<string, string>();
  const taken = new Set(isObject(schema["$defs"]) ? Object.keys(schema["$defs"]) : []);
  const waiting: { readonly name: string; readonly target: Schema }[] = [];
  const nameFor = (reference: string, target: Schema): string => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const plain = nameOf(reference).replaceAll(/[^A-Za-z0-9_.-]/g, "_");
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
    names.set(reference, name);
    taken.add(name);
    waiting.push({ name, target });
    return name;
  };
  const visit = (node: Schema): Schema => {
    if (typeof node === "boolean") return node;
    const inner = mapInner(node, visit);
    const { $ref: reference, ...own } = inner;
    if (typeof reference !== "string" || keeps(reference)) return inner;
    const target = resolve(before, reference);
    if (target === undefined) {
      if (lost === "keep") return inner;
      changes.done.add("references to nothing were replaced");
      return both(own, elsewhere(reference));
    }
    changes.done.add("references point into $defs");
    return { ...own, $ref: `#/$defs/${nameFor(reference, target)}` };
  };
  const top = visit(schema) as JsonObject;
  const hoisted: [string, Schema][] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    hoisted.push([next.name, visit(next.target)]);
  if (hoisted.length === 0) return top;
  const kept = isObject(top["$defs"]) ? Object.entries(top["$defs"]) : [];
  return { ...top, $defs: Object.fromEntries([...kept, ...hoisted]) };
};

/** Every reference replaced by what it points at. A shape inside itself is cut where it comes round again. */
export const inlineRefs = (schema: JsonObject, changes: Changes): JsonObject => {
  let left = followed;
  const visit = (node: Schema, open: readonly string[]): Schema => {
    if (typeof node === "boolean") return node;
    const { $ref: reference, ...own } = node;
    if (typeof reference !== "string") return mapInner(node, (inner) => visit(inner, open));
    changes.done.add("references were inlined");
    const rest = mapInner(own, (inner) => visit(inner, open));
    const target = open.includes(reference) || left <= 0 ? undefined : resolve(schema, reference);
    if (target === undefined) return both(rest, elsewhere(reference));
    left--;
    const shape = visit(target, [...open, reference]);
    if (isObject(shape)) return both(rest, shape);
    return shape ? rest : described(rest, "Must not be given.");
  };
  return visit(schema, ["#"]) as JsonObject;
};

const nameOf = (reference: string): string => {
  const name = unescaped(reference.split(/[/#]/).at(-1) ?? "");
  return name === "" ? "of the whole" : name;
};
