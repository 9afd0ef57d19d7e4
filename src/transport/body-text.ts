import type { JsonObject } from "../conversation/index.ts";

/**
 * Writes bodies as JSON, and what stands in their lists once: a conversation grows by a message or two from request to
 * request, and one that changes is another object. What is larger than any but a few messages is written each time.
 */
export const openBodyWriter = (): ((body: JsonObject) => string) => {
  const texts = new WeakMap<object, string>();
  const item = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
    const known = texts.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    if (text.length <= longest) texts.set(value, text);
    return text;
  };
  const write = (value: unknown, depth: number): string | undefined => {
    if (Array.isArray(value)) return `[${value.map(item).join(",")}]`;
    if (typeof value !== "object" || value === null || depth === deepest) return JSON.stringify(value);
    const fields = Object.entries(value).flatMap(([name, field]) => {
      const text = write(field, depth + 1);
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
    });
    return `{${fields.join(",")}}`;
  };
  return (body) => write(body, 0) ?? "";
};

/** Characters of a text that is kept: a picture is not. */
const longest = 2 ** 18;

/** Lists of messages stand in the body itself, or in a request within it. */
const deepest = 2;
