import { isMasked } from "./quotations.ts";

/** Whether a word names a file or folder. */
export const isPath = (word: string): boolean => {
  const bare = word.replace(/^@/, "");
  if (/^https?:/i.test(bare)) return false;
  if (isMasked(bare) || wellKnownFiles.has(bare.toLowerCase())) return true;
  if (!/^[\p{L}\p{N}_~.@+\-/\\[\](){}*?,%=#:]+$/u.test(bare)) return false;
  return /[\p{L}\p{N}_.~*]\/|^\/\S|^\.{1,2}$/u.test(bare) || hasFileExtension(bare);
};

/** Whether a word ends like a file name: letters after a dot, and something before it. */
const hasFileExtension = (word: string): boolean =>
  /^\.[a-z][\w.-]*$/i.test(word) ||
  (/[^.]\.[a-z\d]{1,10}$/i.test(word) && !/^[\d.]+$/.test(word) && !/^(?:e\.g|i\.e)$/i.test(word));

/** Files with well-known short names. */
const wellKnownFiles: ReadonlyMap<string, string> = new Map([
  ["readme", "README.md"],
  ["changelog", "CHANGELOG.md"],
  ["license", "LICENSE"],
  ["licence", "LICENSE"],
  ["makefile", "Makefile"],
  ["dockerfile", "Dockerfile"],
  ["gitignore", ".gitignore"],
]);

/** Returns the path a word stands for. */
export const normalizePath = (word: string): string =>
  wellKnownFiles.get(word.toLowerCase()) ?? word.replace(/^@(?=.)/, "");

/** Whether the words refer to the path mentioned last. */
export const isPronoun = (words: string): boolean =>
  /^(?:it|that|this|them|that file|this file|the file|the same file|that one|its (?:content|contents)|the result)$/i.test(
    words.trim(),
  );

/** Whether the words mean the current folder. */
export const isCurrentFolder = (words: string): boolean =>
  /^(?:here|there|\.|\.\/|(?:(?:in|of) )?(?:the |this |my |our |current |working |whole |entire |root |project |workspace |top[- ]level )*(?:folder|directory|dir|project|workspace|repo|repository|codebase|code ?base|code|root|files?|tree|sources?|place))$/i.test(
    words.trim(),
  );

/** Parses a folder given by path or as "the src folder". */
export const parseFolder = (words: string): string | undefined => {
  const text = words.trim().replace(/^(?:in|inside|of|from|under|within|at|to)\s+/i, "");
  if (text === "" || isCurrentFolder(text)) return ".";
  const [, before] = /^(?:the |my |our )?(\S+) (?:sub)?(?:folder|directory|dir)$/i.exec(text) ?? [];
  const [, after] = /^(?:the |my |our )?(?:sub)?(?:folder|directory|dir) (?:called |named )?(\S+)$/i.exec(text) ?? [];
  const named = before ?? after;
  if (named !== undefined) return normalizePath(named);
  const plain = text.replace(/^(?:the|my|our) /i, "");
  return isPath(plain) || /^[\w.-]+$/.test(plain) ? normalizePath(plain) : undefined;
};

/** Parses the files named in a text, in order: "a.txt, the file b.txt and c.txt". */
export const parseFiles = (words: string): readonly string[] =>
  words
    .split(/\s*,\s*(?:and\s+)?|\s+(?:and|or|plus|&)\s+|\s+/i)
    .map((word) => word.replace(/^[("'[]+(?=\S)|[)"'\],;:!?]+$/g, ""))
    .filter((word) => word !== "" && isPath(word))
    .map(normalizePath);
