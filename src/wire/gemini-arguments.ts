import type { RawInput } from "../conversation/arguments.ts";
import { isObject } from "../conversation/json.ts";
import { arrayOf, numberOf, objectOf, stringOf } from "./reader.ts";

/** A piece of a call's arguments: a plain value, and the JSON Path where it goes. */
export type Piece = { readonly path: string; readonly value: Scalar; readonly continues: boolean };

/** Pieces, the newest first: adding one costs the same however many there are. */
export type Pieces = { readonly piece: Piece; readonly before: Pieces } | undefined;

type Scalar = string | number | boolean | null;

/** The pieces in a functionCall's `partialArgs`, in order. */
export const piecesIn = (partialArgs: unknown): readonly Piece[] =>
  arrayOf(partialArgs).flatMap((partial): readonly Piece[] => {
    const fields = objectOf(partial);
    const path = stringOf(fields["jsonPath"]);
    const value = scalarIn(fields);
    return path === undefined || value === undefined
      ? []
      : [{ path, value, continues: fields["willContinue"] === true }];
  });

const scalarIn = ({ stringValue, numberValue, boolValue, nullValue }: Record<string, unknown>): Scalar | undefined =>
  stringOf(stringValue) ??
  numberOf(numberValue) ??
  (typeof boolValue === "boolean" ? boolValue : nullValue === undefined ? undefined : null);

/**
 * The arguments that all pieces make together. Models have been seen to write
 * paths that lead nowhere; such pieces are kept as text no tool will take for arguments.
 */
export const argumentsOf = (pieces: Pieces): RawInput => {
  const inOrder: Piece[] = [];
  for (let at = pieces; at !== undefined; at = at.before) inOrder.push(at.piece);
  inOrder.reverse();
  const root: Holder = {};
  const keys = new Map<string, readonly Key[]>();
  const growing = new Set<string>();
  for (const { path, value, continues } of inOrder) {
    const known = keys.get(path) ?? keysOf(path);
    keys.set(path, known);
    if (!put(root, known, growing.has(path) ? { more: value } : { value }))
      return { text: JSON.stringify(inOrder.map((piece) => [piece.path, piece.value])) };
    if (continues) growing.add(path);
    else growing.delete(path);
  }
  return { value: root };
};

type Key = string | number;
type Holder = { [key: string]: unknown } | unknown[];

/** The steps of a path; none where it cannot be read, or is deeper than any schema may be. */
const keysOf = (path: string): readonly Key[] => {
  const keys: Key[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null || keys.length === deepest) return [];
    const [, name, index, single, double] = found;
    keys.push(index === undefined ? (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")) : Number(index));
  }
  return path.startsWith("$") ? keys : [];
};

const deepest = 64;

/** Sets the value behind some keys, or adds to the text there; false where they do not fit what is there. */
const put = (root: Holder, keys: readonly Key[], change: { value: Scalar } | { more: Scalar }): boolean => {
  let holder = root;
  for (const [at, key] of keys.entries()) {
    if (Array.isArray(holder) ? typeof key !== "number" || key > holder.length : typeof key === "number") return false;
    const there = Object.hasOwn(holder, key) ? (holder as Record<Key, unknown>)[key] : undefined;
    const next = keys[at + 1];
    if (next === undefined) {
      if (isHolder(there)) return false;
      define(holder, key, "value" in change ? change.value : grown(there, change.more));
      return true;
    }
    if (there !== undefined && !isHolder(there)) return false;
    const inner: Holder = there ?? (typeof next === "number" ? [] : {});
    if (there === undefined) define(holder, key, inner);
    holder = inner;
  }
  return false;
};

const isHolder = (value: unknown): value is Holder => Array.isArray(value) || isObject(value);

const grown = (there: unknown, more: Scalar): Scalar =>
  typeof there === "string" && typeof more === "string" ? there + more : more;

/** A key is the model's to choose, `__proto__` too. */
const define = (holder: Holder, key: Key, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
