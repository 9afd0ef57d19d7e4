import { toPath } from "./error-text.ts";
import type { ReportFinding } from "../rule.ts";
import { join, memoize, type Check } from "../walk.ts";

/** The bounds of a number in the request. */
export type NumberBounds = { readonly least?: number; readonly most?: number };

/** Reports every numeric field of the request outside its bounds, in OpenAI's wording. */
export const checkBounds = (
  request: Record<string, unknown>,
  bounds: ReadonlyMap<string, NumberBounds>,
  report: ReportFinding,
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

/** True when the word occurs in any text of the value, ignoring case. */
export const mentionsWord = (top: unknown, word: string): boolean => {
  const pending: unknown[] = [top];
  for (let size = pending.length; size > 0; size = pending.length) {
    const value = pending.pop();
    if (typeof value === "string" && value.toLowerCase().includes(word)) return true;
    if (typeof value === "object" && value !== null) for (const item of Object.values(value)) pending.push(item);
  }
  return false;
};

/** DeepSeek refuses a lone surrogate. */
export const loneSurrogate: Check = (body, report, target) => {
  if (target.provider !== "deepseek") return;
  for (const at of brokenTexts(body)) {
    report(at, `Failed to parse the request body as JSON: ${toPath(at)}: lone leading surrogate in hex escape`);
  }
};

/** The other vendors accept a lone surrogate, but it is not portable. */
export const halfSurrogate: Check = (body, report, target) => {
  if (target.provider === "deepseek") return;
  for (const at of brokenTexts(body)) {
    report(at, "Half of a surrogate pair is not valid JSON to DeepSeek, Anthropic and others.");
  }
};

/** Every text of a body with a lone surrogate, which is not valid Unicode and not valid JSON to a strict parser. */
function* brokenTexts(top: unknown): Generator<string> {
  if (isWhole(top)) return;
  const pending: { readonly value: unknown; readonly at: string }[] = [{ value: top, at: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, at } = next;
    if (typeof value === "string" && !value.isWellFormed()) yield at;
    if (typeof value !== "object" || value === null) continue;
    for (const [key, item] of Object.entries(value)) pending.push({ value: item, at: join(at, key) });
  }
}

/** The fast path most bodies take: no text has a lone surrogate. */
const isWhole: (value: unknown) => boolean = memoize((value) => everyTextWhole(value));

const everyTextWhole = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(everyTextWhole);
  for (const key in value) if (!everyTextWhole((value as Record<string, unknown>)[key])) return false;
  return true;
};
