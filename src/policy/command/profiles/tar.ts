import { parseOptions } from "./options.ts";
import { exactRuleProfile, type CommandClassifier } from "./profile.ts";

/**
 * tar with options that run no other program: archives inside the workspace, made of what may be read there. What
 * an archive holds is written wherever it says, so a rule must spell out that it is extracted.
 */
export const classifyTar: CommandClassifier = (words) => {
  const rest = separateLetters(words.slice(1));
  const options = parseOptions(rest, {
    flags: "ctxruvzjJpk",
    values: { path: "f C" },
    long: "create list extract get append update verbose gzip bzip2 xz keep-old-files",
    longValues: { path: "file directory" },
    operands: "paths",
  });
  if (typeof options === "string") return exactRuleProfile(words, options);
  const { options: given, paths } = options;
  // With a colon in its name an archive is fetched from another machine, by another program.
  if (given.some(({ name, value = "" }) => /^(?:f|file)$/.test(name) && value.includes(":")))
    return exactRuleProfile(words, "its archive lies on another machine");
  const extracts = given.some(({ name }) => /^(?:x|extract|get)$/.test(name));
  return {
    requiredWords: extracts ? Math.min(2, words.length) : 1,
    reason: extracts ? "tar writes what its archive holds" : "tar writes an archive",
    paths,
    folderReading: "contents",
  };
};

/** `cvf a b` as `-c -v -f a b`: letters without a dash take their values one after the other. */
const separateLetters = ([first = "", ...rest]: readonly string[]): readonly string[] => {
  if (first === "" || first.startsWith("-")) return first === "" ? rest : [first, ...rest];
  const values = [...rest];
  const letters = Array.from(first).flatMap((letter) =>
    /[fCbIFgHLNTVXK]/.test(letter) ? [`-${letter}`, values.shift() ?? ""] : [`-${letter}`],
  );
  return [...letters, ...values];
};
