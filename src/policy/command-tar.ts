import { readOptions } from "./command-options.ts";
import { wary, type Student } from "./command-study.ts";

/**
 * tar with options that run no other program: archives inside the workspace, made of what may be read there. What
 * an archive holds is written wherever it says, so a rule must spell out that it is extracted.
 */
export const tar: Student = (words) => {
  const rest = separated(words.slice(1));
  const options = readOptions(rest, {
    flags: "ctxruvzjJpk",
    values: { path: "f C" },
    long: "create list extract get append update verbose gzip bzip2 xz keep-old-files",
    longValues: { path: "file directory" },
    operands: "paths",
  });
  if (typeof options === "string") return wary(words, options);
  const { given, paths } = options;
  // With a colon in its name an archive is fetched from another machine, by another program.
  if (given.some(({ name, value = "" }) => /^(?:f|file)$/.test(name) && value.includes(":")))
    return wary(words, "its archive lies on another machine");
  const extracts = given.some(({ name }) => /^(?:x|extract|get)$/.test(name));
  return {
    needs: extracts ? Math.min(2, words.length) : 1,
    why: extracts ? "tar writes what its archive holds" : "tar writes an archive",
    paths,
    folders: "contents",
  };
};

/** `cvf a b` as `-c -v -f a b`: letters without a dash take their values one after the other. */
const separated = ([first = "", ...rest]: readonly string[]): readonly string[] => {
  if (first === "" || first.startsWith("-")) return first === "" ? rest : [first, ...rest];
  const values = [...rest];
  const letters = Array.from(first).flatMap((letter) =>
    /[fCbIFgHLNTVXK]/.test(letter) ? [`-${letter}`, values.shift() ?? ""] : [`-${letter}`],
  );
  return [...letters, ...values];
};
