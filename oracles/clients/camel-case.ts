/**
 * Converts the keys of a body to camelCase, as some clients expect. Keys inside schemas and free-form data are
 * unchanged.
 */
export const toCamelCaseKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toCamelCaseKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [camel(name), free.includes(name) ? held : toCamelCaseKeys(held)]),
  );
};

const free = ["parameters", "metadata", "schema", "logit_bias"];

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
