/**
 * Lists the differences between two JSON values: `+ /a` is only in the second, `- /a` only in the first, `~ /a` in both
 * with different values. The order of fields is ignored.
 */
export const differences = (one: unknown, other: unknown, at = ""): readonly string[] => {
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other))
    return one === other ? [] : [`~ ${at}`];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) => {
    const pointer = `${at}/${name}`;
    if (!(name in other)) return [`- ${pointer}`];
    return name in one ? differences(one[name], other[name], pointer) : [`+ ${pointer}`];
  });
};

const isContainer = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null;
