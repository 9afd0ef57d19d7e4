import type { Environment } from "../../world/world.ts";

/** A text with its variables filled in, or the name of one that is not set. */
export type ExpandedText = { readonly text: string; readonly used: readonly string[] } | { readonly missing: string };

/**
 * Fills in `${NAME}`, `${NAME:-otherwise}` and `$NAME` from the person's environment, once: what a variable holds is not
 * read for variables again. `${NAME}` must be set or have another value; a bare `$NAME` that is not set stays, since
 * command lines for shells hold such.
 */
export const expandVariables = (text: string, env: Environment): ExpandedText => {
  const used: string[] = [];
  let missing: string | undefined;
  const filled = text.replaceAll(variable, (all, braced?: string, otherwise?: string, bare?: string) => {
    const name = braced ?? bare ?? "";
    const value = env[name];
    if (value !== undefined) {
      used.push(name);
      return value;
    }
    if (otherwise !== undefined) return otherwise;
    if (braced !== undefined) missing ??= braced;
    return all;
  });
  return missing === undefined ? { text: filled, used } : { missing };
};

const variable = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g;
