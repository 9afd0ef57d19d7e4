import { isObject } from "../../conversation/json.ts";
import type { Shape } from "./shape.ts";

/** Redacts secret fields of a value for printing, unless they only refer to an environment variable. */
export const redactSecrets = (shape: Shape, value: unknown): unknown => {
  if (shape.type === "record" && isObject(value)) return mapEntries(value, (_, item) => redactSecrets(shape.of, item));
  if (shape.type !== "object" || !isObject(value)) return value;
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
