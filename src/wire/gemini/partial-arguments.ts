import type { RawCallInput } from "../../conversation/call-input.ts";
import { isObject } from "../../conversation/json.ts";
import { arrayOf, numberOf, objectOf, stringOf } from "../reader.ts";

/** A streamed piece of a call's arguments: a scalar, and its JSON Path. */
export type PartialArgument = { readonly path: string; readonly value: JsonScalar; readonly continues: boolean };

/** A linked list of pieces, newest first: appending is O(1). */
export type PartialArguments = { readonly piece: PartialArgument; readonly before: PartialArguments } | undefined;

type JsonScalar = string | number | boolean | null;

/** Parses a functionCall's `partialArgs`, in order. */
export const parsePartialArguments = (partialArgs: unknown): readonly PartialArgument[] =>
  arrayOf(partialArgs).flatMap((partial): readonly PartialArgument[] => {
    const fields = objectOf(partial);
    const path = stringOf(fields["jsonPath"]);
    const value = scalarIn(fields);
    return path === undefined || value === undefined
      ? []
      : [{ path, value, continues: fields["willContinue"] === true }];
  });

const scalarIn = ({
  stringValue,
  numberValue,
  boolValue,
  nullValue,
}: Record<string, unknown>): JsonScalar | undefined =>
  stringOf(stringValue) ??
  numberOf(numberValue) ??
  (typeof boolValue === "boolean" ? boolValue : nullValue === undefined ? undefined : null);

/**
 * Assembles the arguments from all pieces. Models sometimes write invalid paths; the pieces are then kept as text that no
 * tool accepts as arguments.
 */
export const assembleArguments = (pieces: PartialArguments): RawCallInput => {
  const inOrder: PartialArgument[] = [];
  for (let at = pieces; at !== undefined; at = at.before) inOrder.push(at.piece);
  inOrder.reverse();
  const root: JsonContainer = {};
  const keys = new Map<string, readonly PathKey[]>();
  const growing = new Set<string>();
  for (const { path, value, continues } of inOrder) {
    const known = keys.get(path) ?? parseJsonPath(path);
    keys.set(path, known);
    if (!setAtPath(root, known, growing.has(path) ? { more: value } : { value }))
      return { text: JSON.stringify(inOrder.map((piece) => [piece.path, piece.value])) };
    if (continues) growing.add(path);
    else growing.delete(path);
  }
  return { value: root };
};

type PathKey = string | number;
type JsonContainer = { [key: string]: unknown } | unknown[];

/** Parses a JSON Path into keys; none if it is invalid or deeper than any schema may be. */
const parseJsonPath = (path: string): readonly PathKey[] => {
  const keys: PathKey[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null || keys.length === maxDepth) return [];
    const [, name, index, single, double] = found;
    keys.push(index === undefined ? (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")) : Number(index));
  }
  return path.startsWith("$") ? keys : [];
};

const maxDepth = 64;

/** Sets the value at a path, or appends to the text there; false if the path does not fit. */
const setAtPath = (
  root: JsonContainer,
  keys: readonly PathKey[],
  change: { value: JsonScalar } | { more: JsonScalar },
): boolean => {
  let holder = root;
  for (const [at, key] of keys.entries()) {
    if (Array.isArray(holder) ? typeof key !== "number" || key > holder.length : typeof key === "number") return false;
    const there = Object.hasOwn(holder, key) ? (holder as Record<PathKey, unknown>)[key] : undefined;
    const next = keys[at + 1];
    if (next === undefined) {
      if (isContainer(there)) return false;
      defineKey(holder, key, "value" in change ? change.value : appendValue(there, change.more));
      return true;
    }
    if (there !== undefined && !isContainer(there)) return false;
    const inner: JsonContainer = there ?? (typeof next === "number" ? [] : {});
    if (there === undefined) defineKey(holder, key, inner);
    holder = inner;
  }
  return false;
};

const isContainer = (value: unknown): value is JsonContainer => Array.isArray(value) || isObject(value);

const appendValue = (there: unknown, more: JsonScalar): JsonScalar =>
  typeof there === "string" && typeof more === "string" ? there + more : more;

/** Defines a key safely: models choose the keys, even `__proto__`. */
const defineKey = (holder: JsonContainer, key: PathKey, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
