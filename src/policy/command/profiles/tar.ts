import { parseOptions } from "./options.ts";
import { exactRuleProfile, type CommandClassifier } from "./profile.ts";

/**
 * Classifies tar with options that run no other program: archives inside the workspace, made of files that may be
 * read. Extracting writes wherever the archive says, so a rule must contain the extract option.
 */
export const classifyTar: CommandClassifier = (words) => {
  const separatedWords = separateLetters(words.slice(1));
  const parsed = parseOptions(separatedWords, {
    flags: "ctxruvzjJpk",
    values: { path: "f C" },
    long: "create list extract get append update verbose gzip bzip2 xz keep-old-files",
    longValues: { path: "file directory" },
    operands: "paths",
  });
  if (typeof parsed === "string") return exactRuleProfile(words, parsed);
  const { options, paths } = parsed;
  // An archive name with a colon is fetched from another machine by another program.
  if (options.some(({ name, value = "" }) => /^(?:f|file)$/.test(name) && value.includes(":")))
    return exactRuleProfile(words, "the archive is on another machine");
  const extracts = options.some(({ name }) => /^(?:x|extract|get)$/.test(name));
  return {
    requiredWords: extracts ? Math.min(2, words.length) : 1,
    reason: extracts ? "it extracts files from an archive" : "it writes an archive",
    paths,
    folderReading: "contents",
  };
};

/** Turns `cvf a b` into `-c -v -f a b`: letters without a dash take their values in order. */
const separateLetters = ([first = "", ...rest]: readonly string[]): readonly string[] => {
  if (first === "" || first.startsWith("-")) return first === "" ? rest : [first, ...rest];
  const values = [...rest];
  const letters = Array.from(first).flatMap((letter) =>
    /[fCbIFgHLNTVXK]/.test(letter) ? [`-${letter}`, values.shift() ?? ""] : [`-${letter}`],
  );
  return [...letters, ...values];
};
