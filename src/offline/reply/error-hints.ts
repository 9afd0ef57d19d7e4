/** Explains a common error in one sentence; undefined for others. */
export const errorHint = (text: string): string | undefined => hints.find(([pattern]) => pattern.test(text))?.[1];

const hints: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /command not found|is not recognized as|not found in PATH/i,
    "The program is not installed here, or its name is misspelt.",
  ],
  [/missing script/i, "package.json has no script of that name."],
  [
    /Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError/,
    "Something that is imported is not there: a package that was not installed, or a path that is wrong.",
  ],
  [/EADDRINUSE/, "The port is taken by another program."],
  [/ECONNREFUSED/, "Nothing answers at that address."],
  [
    /ENOTFOUND|EAI_AGAIN|could not resolve/i,
    "The name of the host cannot be looked up: there is no network, or the name is wrong.",
  ],
  [/SyntaxError/, "The code cannot be read: a sign is missing or stands in the wrong place."],
  [/TypeError|ReferenceError/, "The code uses something that is not there, or not of that kind."],
  [/AssertionError|\bFAIL\b|tests? failed/i, "A test found something other than it expects."],
  [/error TS\d+/, "The types do not fit."],
  [/EACCES|permission denied/i, "The permissions of the file or folder do not allow it."],
  [/ENOSPC|no space left/i, "The disk is full."],
  [/not a git repository/i, "This folder is not under git."],
  [/ran too long|timed? ?out/i, "It took longer than it may."],
  [/kept from models/i, "An ignore file keeps it from models."],
  [/outside|not in the workspace|leaves the/i, "It is outside of the folders this session may use."],
  [/occurrences? found|0 occurrences/i, "The text to replace does not stand in the file like that."],
  [
    /ENOENT|no such file|not found|there is no (?:file|folder)|does not exist/i,
    "The file or folder is not there: check its name, or list the folder to see what is.",
  ],
];
