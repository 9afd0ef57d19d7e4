import { posix } from "node:path";
import type { Words } from "./command-inside.ts";
import { nameOf } from "./command-open.ts";
import { literalOf, spelled, type PossibleWord } from "./command-word.ts";

/** The folders a path can start from while a line runs, and the home folder. */
export type Places = { readonly folders: readonly string[]; readonly home: string };

/** Where a word leads as a path, from each folder; what is unknown in it cuts it off, and it ends at the folder before. */
export const pathsOf = (word: PossibleWord, { folders, home }: Places): readonly string[] => {
  const text = spelled(word).replace(/^(?:~[^/]*|\$HOME(?!\w)|\$\{HOME[^}]*\})(?=\/|$)/, () => home);
  const unknown = /[$`*?[{]|>\(|<\(/.exec(text)?.index;
  const known =
    literalOf(word) !== undefined || unknown === undefined ? text : text.slice(0, text.lastIndexOf("/", unknown) + 1);
  return folders.map((folder) => posix.resolve(folder, known));
};

/** The folders a line may be in after this command. A folder that cannot be told is left out. */
export const foldersAfter = (words: Words, places: Places): readonly string[] =>
  [...new Set([...places.folders, ...foldersReached(words, places)])].slice(0, mostFolders);

/** The folders this command changes to where it succeeds; none where it changes to none. */
export const foldersReached = (words: Words, places: Places): readonly string[] => {
  if (!/^(?:cd|pushd|chdir)$/.test(nameOf(words) ?? "")) return [];
  const target = words.slice(1).find((word) => !/^-[LPe@]*$/.test(spelled(word))) ?? ["~"];
  return pathsOf(target, places).slice(0, mostFolders);
};

const mostFolders = 8;

/** The files a command is known to write, remove or change, by its own words. */
export const writtenBy = (words: Words): readonly PossibleWord[] => {
  const name = nameOf(words) ?? "";
  const operands = operandsOf(words);
  if (/^(?:tee|touch|mkdir|rmdir|rm|unlink|truncate|shred|chmod|chown|chgrp|mv|mkfifo|mknod|sponge)$/.test(name))
    return operands;
  if (/^(?:cp|ln|install|rsync|scp|link)$/.test(name)) {
    const folder = valueOf(words, /^(?:-t|--target-directory)$/, /^--target-directory=/);
    return folder.length > 0 ? folder : operands.slice(-1);
  }
  if (name === "dd") return valueOf(words, /^$/, /^of=/);
  if (name === "sort" || name === "curl") return valueOf(words, /^(?:-o|--output)$/, /^--output=|^-o(?=.)/);
  if (/^(?:bsd|g)?tar$/.test(name)) return writtenByTar(words);
  if (name === "git") return valueOf(words, /^--output$/, /^--output=/);
  if (name === "find") return valueOf(words, /^-(?:fprint[0f]?|fls)$/, /^$/);
  if (name === "wget") return valueOf(words, /^(?:-O|--output-document)$/, /^--output-document=|^-O(?=.)/);
  return /^g?sed$/.test(name) ? writtenBySed(words, operands) : [];
};

/** The archive, unless it is only read. */
const writtenByTar = (words: Words): readonly PossibleWord[] => {
  const letters = spelled(words[1] ?? [""]);
  const isRead = words.some(
    (word, at) =>
      /^(?:-[a-zA-Z]*[xt][a-zA-Z]*|--(?:extract|get|list))$/.test(spelled(word)) ||
      (at === 1 && /^[a-zA-Z]*[xt]/.test(letters)),
  );
  const folders = valueOf(words, /^(?:-C|--directory)$/, /^(?:-C|--directory=)(?=.)/);
  const archives = valueOf(words, /^(?:-[a-zA-Z]*f|--file)$/, /^--file=/);
  return [...(isRead ? [] : [...archives, ...(/^[a-zA-Z]+$/.test(letters) ? words.slice(2, 3) : [])]), ...folders];
};

const writtenBySed = (words: Words, operands: readonly PossibleWord[]): readonly PossibleWord[] => {
  const has = (option: RegExp): boolean => words.some((word) => option.test(spelled(word)));
  const files = has(/^(?:-[a-zA-Z]*[ef]|--expression|--file)/) ? operands : operands.slice(1);
  const named = words.flatMap((word) => [...spelled(word).matchAll(/(?:^|[;}\n\d$gpI/|#,])[wW]\s+(\S+)/g)]);
  return [...(has(/^(?:-[a-zA-Z]*i|--in-place)/) ? files : []), ...named.map(([, path = ""]) => [path])];
};

/** The words that are no options. */
export const operandsOf = (words: Words): readonly PossibleWord[] => {
  const end = words.findIndex((word) => literalOf(word) === "--");
  return words.filter((word, at) => at > 0 && at !== end && ((end > 0 && at > end) || !/^-./.test(spelled(word))));
};

const valueOf = (words: Words, option: RegExp, attached: RegExp): readonly PossibleWord[] =>
  words.flatMap((word, at) => {
    const text = spelled(word);
    if (at > 0 && option.test(text)) return words.slice(at + 1, at + 2);
    return at > 0 && attached.test(text) ? [[text.replace(attached, "")]] : [];
  });
