import { isObject } from "./check.ts";
import type { Shape } from "./shape.ts";

/** A value as it may be printed: what its shape calls secret is hidden, unless it only names a variable. */
export const redactSecrets = (shape: Shape, value: unknown): unknown => {
  if (shape.type === "names" && isObject(value)) return mapEntries(value, (_, item) => redactSecrets(shape.of, item));
  if (shape.type !== "fields" || !isObject(value)) return value;
  return mapEntries(value, (name, item) => {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field === undefined) return item;
    return field.secret ? redactValue(item) : redactSecrets(field.shape, item);
  });
};

const mapEntries = (
  value: { readonly [key: string]: unknown },
  change: (name: string, item: unknown) => unknown,
): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(name, item)]));

const redactValue = (value: unknown): unknown => {
  if (isObject(value)) return mapEntries(value, (_, item) => redactValue(item));
  return typeof value === "string" && /^\$(\w+|\{\w+\})$/.test(value) ? value : "[secret]";
};
