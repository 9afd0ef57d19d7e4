import { isAbsolute, resolve, sep } from "node:path";
import { PolicyError } from "../error.ts";

/** Longer paths are nobody's: the deepest real one we know of has a few thousand characters. */
const maxLength = 2 ** 15;

/**
 * The absolute path a text names, by its spelling alone: dots are resolved, links are not. Nothing is decoded
 * or expanded. `~`, percent signs and look-alike dots are ordinary characters.
 */
export const parsePath = (text: string, base: string): string => {
  if (text.includes("\0")) throw new PolicyError("policy_violation", "A path cannot hold a NUL character.");
  if (text.length > maxLength) throw new PolicyError("policy_violation", "The path is too long.");
  if (/^(file:|[a-z][a-z\d+.-]+:\/\/)/i.test(text))
    throw new PolicyError("path_not_in_workspace", `${quotePath(text)} is an address, not a path. Use a plain path.`);
  if (/^~([/\\]|$)/.test(text))
    throw new PolicyError(
      "path_not_in_workspace",
      `${quotePath(text)}: "~" does not stand for a folder here. Use a full path.`,
    );
  if (sep === "\\" && /^[a-z]:(?![/\\])/i.test(text))
    throw new PolicyError(
      "path_not_in_workspace",
      `${quotePath(text)} depends on a drive's current folder. Use a full path.`,
    );
  return isAbsolute(text) ? resolve(text) : resolve(base, text);
};

/** The names in a path, without empty ones and single dots. */
export const splitPath = (path: string): readonly string[] =>
  path.split(sep === "\\" ? /[/\\]/ : "/").filter((part) => part !== "" && part !== ".");

/** Whether a path is a folder or below it. `/site-evil` is not inside `/site`. */
export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Why a name may not be made, or undefined if it may. What is there already may have any name. */
export const invalidNameReason = (name: string): string | undefined => {
  if (invisibleCharacter.test(name) || !name.isWellFormed())
    return `The name ${quotePath(name)} holds characters that cannot be seen.`;
  if (name === "~") return 'A folder named "~" would be taken for the home folder.';
  if (sep === "\\" && /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name))
    return `The name ${quotePath(name)} means something else on Windows.`;
  return undefined;
};

/** Control and format characters, line breaks of all kinds, and letters that are blank. */
const invisibleCharacter = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

/** A path in quotes, so that it cannot pass for something else in a sentence. */
export const quotePath = (path: string): string =>
  JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}...` : path).replace(
    new RegExp(invisibleCharacter, "gu"),
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`,
  );
