import { isObject } from "./check.ts";
import type { Shape } from "./shape.ts";

/** A value as it may be printed: what its shape calls secret is hidden, unless it only names a variable. */
export const withoutSecrets = (shape: Shape, value: unknown): unknown => {
  if (shape.type === "names" && isObject(value)) return each(value, (_, item) => withoutSecrets(shape.of, item));
  if (shape.type !== "fields" || !isObject(value)) return value;
  return each(value, (name, item) => {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field === undefined) return item;
    return field.secret ? hidden(item) : withoutSecrets(field.shape, item);
  });
};

const each = (
  value: { readonly [key: string]: unknown },
  change: (name: string, item: unknown) => unknown,
): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(name, item)]));

const hidden = (value: unknown): unknown => {
  if (isObject(value)) return each(value, (_, item) => hidden(item));
  return typeof value === "string" && /^\$(\w+|\{\w+\})$/.test(value) ? value : "[secret]";
};
