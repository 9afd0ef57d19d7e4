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
    // Put together piece by piece, texts are copied once, when they are sent.
    let all = "";
    if (Array.isArray(value)) {
      for (const each of value) all += `${all === "" ? "" : ","}${item(each)}`;
      return `[${all}]`;
    }
    if (typeof value !== "object" || value === null || depth === deepest) return JSON.stringify(value);
    for (const [name, field] of Object.entries(value)) {
      const text = write(field, depth + 1);
      if (text !== undefined) all += `${all === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
    }
    return `{${all}}`;
  };
  return (body) => write(body, 0) ?? "";
};

/** Characters of a text that is kept: a picture is not. */
const longest = 2 ** 18;

/** Lists of messages stand in the body itself, or in a request within it. */
const deepest = 2;
