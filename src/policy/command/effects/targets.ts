import { posix } from "node:path";
import type { CommandWords } from "./nested.ts";
import { commandName } from "./unwrap.ts";
import { literalText, sourceText, type PossibleWord } from "../parse/word.ts";

/** The working folders a command line may be in, and the home folder. */
export type WorkingFolders = { readonly folders: readonly string[]; readonly home: string };

/** Resolves a word as a path from each folder. At an unknown piece the path is cut off at the folder before it. */
export const resolveWordPaths = (word: PossibleWord, { folders, home }: WorkingFolders): readonly string[] => {
  const text = sourceText(word).replace(/^(?:~[^/]*|\$HOME(?!\w)|\$\{HOME[^}]*\})(?=\/|$)/, () => home);
  const unknown = /[$`*?[{]|>\(|<\(/.exec(text)?.index;
  const known =
    literalText(word) !== undefined || unknown === undefined ? text : text.slice(0, text.lastIndexOf("/", unknown) + 1);
  return folders.map((folder) => posix.resolve(folder, known));
};

/** Lists the folders the line may be in after this command. Unknown folders are left out. */
export const listFoldersAfter = (words: CommandWords, workingFolders: WorkingFolders): readonly string[] =>
  [...new Set([...workingFolders.folders, ...listFoldersReached(words, workingFolders)])].slice(0, maxFolders);

/** Lists the folders this command changes to if it succeeds; empty if it is not `cd` or similar. */
export const listFoldersReached = (words: CommandWords, workingFolders: WorkingFolders): readonly string[] => {
  if (!/^(?:cd|pushd|chdir)$/.test(commandName(words) ?? "")) return [];
  const target = words.slice(1).find((word) => !/^-[LPe@]*$/.test(sourceText(word))) ?? ["~"];
  return resolveWordPaths(target, workingFolders).slice(0, maxFolders);
};

const maxFolders = 8;

/** Finds the files that a command writes, removes or changes, by its arguments. */
export const findWriteTargets = (words: CommandWords): readonly PossibleWord[] => {
  const name = commandName(words) ?? "";
  const operands = listOperands(words);
  if (/^(?:tee|touch|mkdir|rmdir|rm|unlink|truncate|shred|chmod|chown|chgrp|mv|mkfifo|mknod|sponge)$/.test(name))
    return operands;
  if (/^(?:cp|ln|install|rsync|scp|link)$/.test(name)) {
    const folder = findOptionValues(words, /^(?:-t|--target-directory)$/, /^--target-directory=/);
    return folder.length > 0 ? folder : operands.slice(-1);
  }
  if (name === "dd") return findOptionValues(words, /^$/, /^of=/);
  if (name === "sort" || name === "curl") return findOptionValues(words, /^(?:-o|--output)$/, /^--output=|^-o(?=.)/);
  if (/^(?:bsd|g)?tar$/.test(name)) return findTarTargets(words);
  if (name === "git") return findOptionValues(words, /^--output$/, /^--output=/);
  if (name === "find") return findOptionValues(words, /^-(?:fprint[0f]?|fls)$/, /^$/);
  if (name === "wget") return findOptionValues(words, /^(?:-O|--output-document)$/, /^--output-document=|^-O(?=.)/);
  return /^g?sed$/.test(name) ? findSedTargets(words, operands) : [];
};

/** The archive tar writes, unless it only reads it, and the folder it extracts to. */
const findTarTargets = (words: CommandWords): readonly PossibleWord[] => {
  const letters = sourceText(words[1] ?? [""]);
  const onlyReads = words.some(
    (word, at) =>
      /^(?:-[a-zA-Z]*[xt][a-zA-Z]*|--(?:extract|get|list))$/.test(sourceText(word)) ||
      (at === 1 && /^[a-zA-Z]*[xt]/.test(letters)),
  );
  const folders = findOptionValues(words, /^(?:-C|--directory)$/, /^(?:-C|--directory=)(?=.)/);
  const archives = findOptionValues(words, /^(?:-[a-zA-Z]*f|--file)$/, /^--file=/);
  return [...(onlyReads ? [] : [...archives, ...(/^[a-zA-Z]+$/.test(letters) ? words.slice(2, 3) : [])]), ...folders];
};

const findSedTargets = (words: CommandWords, operands: readonly PossibleWord[]): readonly PossibleWord[] => {
  const hasOption = (option: RegExp): boolean => words.some((word) => option.test(sourceText(word)));
  const files = hasOption(/^(?:-[a-zA-Z]*[ef]|--expression|--file)/) ? operands : operands.slice(1);
  const named = words.flatMap((word) => [...sourceText(word).matchAll(/(?:^|[;}\n\d$gpI/|#,])[wW]\s+(\S+)/g)]);
  return [...(hasOption(/^(?:-[a-zA-Z]*i|--in-place)/) ? files : []), ...named.map(([, path = ""]) => [path])];
};

/** Lists the arguments that are not options. */
export const listOperands = (words: CommandWords): readonly PossibleWord[] => {
  const end = words.findIndex((word) => literalText(word) === "--");
  return words.filter((word, at) => at > 0 && at !== end && ((end > 0 && at > end) || !/^-./.test(sourceText(word))));
};

const findOptionValues = (words: CommandWords, option: RegExp, attached: RegExp): readonly PossibleWord[] =>
  words.flatMap((word, at) => {
    const text = sourceText(word);
    if (at > 0 && option.test(text)) return words.slice(at + 1, at + 2);
    return at > 0 && attached.test(text) ? [[text.replace(attached, "")]] : [];
  });
