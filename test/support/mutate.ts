import type { Random } from "./random.ts";

/** Mutates a body: something is removed, doubled, moved, of another type, or strange. */
export const mutate = (body: unknown, random: Random): unknown => {
  const copy: unknown = structuredClone(body);
  const places: { readonly holder: Record<string, unknown> | unknown[]; readonly key: string | number }[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const holder = node as Record<string, unknown> | unknown[];
    const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
    for (const key of keys) {
      places.push({ holder, key });
      walk((holder as Record<string | number, unknown>)[key]);
    }
  };
  walk(copy);
  if (places.length === 0) return copy;
  const { holder, key } = random.pick(places);
  const object = holder as Record<string | number, unknown>;
  switch (random.below(Array.isArray(holder) ? 7 : 4)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete object[key];
      break;
    case 1:
      object[key] = random.pick(strange);
      break;
    case 2:
      object[key] = { [random.pick(["type", "text", "role", "content", "parts", "id", "name"])]: object[key] };
      break;
    case 3:
      object[key] = [object[key]];
      break;
    case 4:
      if (Array.isArray(holder)) holder.splice(Number(key), 0, structuredClone(holder[Number(key)]));
      break;
    case 5:
      if (Array.isArray(holder)) holder.reverse();
      break;
    default:
      if (Array.isArray(holder)) holder.push(structuredClone(random.pick(holder)));
  }
  return copy;
};

const strange: readonly unknown[] = [
  null,
  "",
  " ",
  0,
  -1,
  1.5,
  true,
  [],
  {},
  "x".repeat(300),
  "\ud800",
  "user",
  "assistant",
  "tool",
  "system",
  "model",
  "function_call",
  "tool_result",
  "text",
  [[[]]],
  [null],
  { type: "text" },
  { text: 7 },
  "data:image/png;base64,",
  "https://example.com/a.png",
];
