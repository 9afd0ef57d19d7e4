import type { JsonObject } from "../conversation/json.ts";

/**
 * Creates an encoder of bodies as JSON bytes, with a cache for list items: a conversation grows by a message or two from
 * request to request, and a changed message is another object. Very large items are not cached.
 */
export const createBodyEncoder = (): ((body: JsonObject) => Uint8Array) => {
  /** Cached bytes, each with a comma before it. */
  const known = new WeakMap<object, Buffer>();
  const itemBytes = (value: object): Buffer => {
    const old = known.get(value);
    if (old !== undefined) return old;
    const bytes = Buffer.from(`,${JSON.stringify(value)}`);
    if (bytes.length <= maxCachedBytes) known.set(value, bytes);
    return bytes;
  };
  return (body) => {
    const pieces: Buffer[] = [];
    let text = "";
    const list = (items: readonly unknown[]): void => {
      text += "[";
      items.forEach((item, index) => {
        if (typeof item !== "object" || item === null) {
          text += `${index === 0 ? "" : ","}${JSON.stringify(item) ?? "null"}`;
          return;
        }
        const bytes = itemBytes(item);
        if (text !== "") pieces.push(Buffer.from(text));
        text = "";
        pieces.push(index === 0 ? bytes.subarray(1) : bytes);
      });
      text += "]";
    };
    const write = (value: unknown, depth: number): void => {
      if (Array.isArray(value)) return list(value);
      if (typeof value !== "object" || value === null || depth === maxListDepth) {
        text += JSON.stringify(value);
        return;
      }
      let isFirst = true;
      text += "{";
      for (const [name, field] of Object.entries(value)) {
        if (field === undefined) continue;
        text += `${isFirst ? "" : ","}${JSON.stringify(name)}:`;
        isFirst = false;
        write(field, depth + 1);
      }
      text += "}";
    };
    write(body, 0);
    return Buffer.concat([...pieces, Buffer.from(text)]);
  };
};

/** The largest cached item, in bytes: images are not cached. */
const maxCachedBytes = 2 ** 18;

/** Lists of messages are in the body itself, or in a request within it. */
const maxListDepth = 2;
