import { join } from "./walk.ts";
import type { Report } from "./rule.ts";

/** The bounds of a number in the request. */
export type Bounds = { readonly least?: number; readonly most?: number };

/** Reports every field of the request that is a number outside its bounds, in OpenAI's words. */
export const checkBounds = (
  request: Record<string, unknown>,
  bounds: ReadonlyMap<string, Bounds>,
  report: Report,
): void => {
  for (const [field, { least, most }] of bounds) {
    const value = request[field];
    if (typeof value !== "number") continue;
    const kind = Number.isInteger(least ?? most) && field.startsWith("max_") ? "integer" : "decimal";
    if (least !== undefined && value < least) {
      report(
        join("", field),
        `Invalid '${field}': ${kind} below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
      );
    }
    if (most !== undefined && value > most) {
      report(
        join("", field),
        `Invalid '${field}': ${kind} above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
      );
    }
  }
};

/** True when the word stands in any text of the value, in capitals or not. */
export const mentions = (top: unknown, word: string): boolean => {
  const pending: unknown[] = [top];
  for (let size = pending.length; size > 0; size = pending.length) {
    const value = pending.pop();
    if (typeof value === "string" && value.toLowerCase().includes(word)) return true;
    if (typeof value === "object" && value !== null) for (const item of Object.values(value)) pending.push(item);
  }
  return false;
};

/** Every text of a body that holds half of a surrogate pair, which is not valid Unicode and not valid JSON to a strict parser. */
export function* brokenTexts(top: unknown): Generator<string> {
  const pending: { readonly value: unknown; readonly at: string }[] = [{ value: top, at: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, at } = next;
    if (typeof value === "string" && !value.isWellFormed()) yield at;
    if (typeof value !== "object" || value === null) continue;
    for (const [key, item] of Object.entries(value)) pending.push({ value: item, at: join(at, key) });
  }
}
