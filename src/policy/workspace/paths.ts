import { isAbsolute, resolve, sep } from "node:path";
import { PolicyError } from "../error.ts";

/** Longer paths are rejected: the longest real one we know of has a few thousand characters. */
const maxLength = 2 ** 15;

/**
 * Parses a path into an absolute one, lexically: dots are resolved, links are not. Nothing is decoded or expanded:
 * percent signs and look-alike dots are ordinary characters.
 */
export const parsePath = (text: string, base: string): string => {
  if (text.includes("\0")) throw new PolicyError("policy_violation", "A path cannot contain a NUL character.");
  if (text.length > maxLength) throw new PolicyError("policy_violation", "The path is too long.");
  if (/^(file:|[a-z][a-z\d+.-]+:\/\/)/i.test(text))
    throw new PolicyError("path_not_in_workspace", `${quotePath(text)} is a URL, not a path. Use a path.`);
  if (/^~([/\\]|$)/.test(text))
    throw new PolicyError("path_not_in_workspace", `${quotePath(text)}: "~" is not expanded. Use a full path.`);
  if (sep === "\\" && /^[a-z]:(?![/\\])/i.test(text))
    throw new PolicyError(
      "path_not_in_workspace",
      `${quotePath(text)} depends on a drive's current folder. Use a full path.`,
    );
  return isAbsolute(text) ? resolve(text) : resolve(base, text);
};

/** Splits a path into its names, without empty ones and single dots. */
export const splitPath = (path: string): readonly string[] =>
  path.split(sep === "\\" ? /[/\\]/ : "/").filter((part) => part !== "" && part !== ".");

/** Whether a path is the folder or below it. `/site-evil` is not inside `/site`. */
export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Returns why a new file may not have this name; undefined if it may. Existing files may have any name. */
export const invalidNameReason = (name: string): string | undefined => {
  if (!isPrintableAscii(name) && (invisibleCharacter.test(name) || !name.isWellFormed()))
    return `The name ${quotePath(name)} contains invisible characters.`;
  if (name === "~") return 'A folder named "~" would be mistaken for the home folder.';
  if (sep === "\\" && /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name))
    return `The name ${quotePath(name)} is not a valid name on Windows.`;
  return undefined;
};

/** Control and format characters, line separators, and blank letters. */
const invisibleCharacter = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

/** Quotes a path for a message, with invisible characters escaped, so that it cannot be misread. */
export const quotePath = (path: string): string => {
  const quoted = JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}...` : path);
  if (isPrintableAscii(quoted)) return quoted;
  return quoted.replace(
    new RegExp(invisibleCharacter, "gu"),
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`,
  );
};

/** Whether a text has only printable ASCII characters. Most have, and compiling a pattern of Unicode properties is slow. */
export const isPrintableAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
