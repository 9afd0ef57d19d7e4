import { isObject } from "../../src/conversation/json.ts";
import type { ComposedRequest } from "../../src/wire/compose.ts";

/** A value somewhere in a body, with the pointer to it. */
export type Leaf = { readonly pointer: string; readonly value: string | number | boolean };

/** Every value in a body. Nulls and empty texts say nothing. */
const leavesOf = (value: unknown, pointer = ""): readonly Leaf[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, `${pointer}/${index}`));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => leavesOf(item, `${pointer}/${key}`));
  if (typeof value === "string" && value.trim() === "") return [];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? [{ pointer, value }]
    : [];
};

/** The values of a body that are neither in the request made of it nor under a pointer that a note names. */
export const lostInSilence = (body: unknown, { body: made, report }: ComposedRequest): readonly Leaf[] => {
  const kept = leavesOf(made).map(({ value }) => value);
  const words = kept.filter((value) => typeof value === "string").join("\n");
  const notes = report.notes.map(({ message }) => message);
  const named = notes.flatMap((message) => message.match(/\/[\w$~/.-]+/g) ?? []).map((name) => name.replace(/\.$/, ""));
  const isThoughtNoted = report.notes.some(({ kind }) => kind === "thinking-dropped");
  return leavesOf(body).filter(({ pointer, value }) => {
    if (kept.includes(value) || (typeof value === "string" && words.includes(value))) return false;
    if (named.some((name) => pointer === name || pointer.startsWith(`${name}/`))) return false;
    if (pointer.endsWith("/type") && spellings.has(String(value))) return false;
    if (pointer.endsWith("/temperature") && notes.some((message) => message.includes("temperature"))) return false;
    if (isThoughtNoted && /thought/.test(`${pointer} ${value}`)) return false;
    return !notes.some((message) => message.includes(`"${value}"`));
  });
};

/** Types that only say where a text stands: a message of one text may be written without them. */
const spellings: ReadonlySet<string> = new Set(["message", "input_text", "output_text"]);
