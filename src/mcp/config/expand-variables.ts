import type { Environment } from "../../world/world.ts";

/** A text with its variables expanded, or the name of one that is not set. */
export type ExpandedText = { readonly text: string; readonly used: readonly string[] } | { readonly missing: string };

/**
 * Expands `${NAME}`, `${NAME:-default}` and `$NAME` from the user's environment, once: the values are not expanded
 * again. `${NAME}` must be set or have a default; a bare `$NAME` that is not set stays, since shell command lines
 * contain such.
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
