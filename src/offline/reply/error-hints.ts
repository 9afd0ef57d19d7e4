/** Explains a common error in one sentence; undefined for others. */
export const errorHint = (text: string): string | undefined => hints.find(([pattern]) => pattern.test(text))?.[1];

const hints: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /command not found|is not recognized as|not found in PATH/i,
    "The program is not installed, or its name is misspelt.",
  ],
  [/missing script/i, "package.json has no script of that name."],
  [
    /Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError/,
    "An import is missing: a package is not installed, or a path is wrong.",
  ],
  [/EADDRINUSE/, "The port is in use by another program."],
  [/ECONNREFUSED/, "Nothing listens at that address."],
  [/ENOTFOUND|EAI_AGAIN|could not resolve/i, "The host name cannot be resolved: no network, or a wrong name."],
  [/SyntaxError/, "Syntax error: a character is missing or misplaced."],
  [/TypeError|ReferenceError/, "The code uses something undefined or of another type."],
  [/AssertionError|\bFAIL\b|tests? failed/i, "A test assertion failed."],
  [/error TS\d+/, "A type error."],
  [/EACCES|permission denied/i, "The file permissions do not allow it."],
  [/ENOSPC|no space left/i, "The disk is full."],
  [/not a git repository/i, "This folder is not a git repository."],
  [/ran too long|timed? ?out/i, "It timed out."],
  [/excluded from models/i, "An ignore file excludes it."],
  [/outside|not in the workspace|leaves the/i, "It is outside the workspace."],
  [/occurrences? found|0 occurrences/i, "The text to replace was not found in the file."],
  [
    /ENOENT|no such file|not found|there is no (?:file|folder)|does not exist/i,
    "The file or folder does not exist: check its name, or list the folder.",
  ],
];
