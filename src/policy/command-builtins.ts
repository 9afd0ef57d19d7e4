import { never, reads, wary, type Student } from "./command-study.ts";

/** What bash does itself, by name, as far as it is known to be harmless. */
export const builtins: Readonly<Record<string, Student>> = {
  echo: () => reads(),
  true: () => reads(),
  false: () => reads(),
  ":": () => reads(),
  pwd: (words) =>
    words.slice(1).every((word) => /^-[LP]$/.test(word)) ? reads() : wary(words, "its options are not known"),
  // An option or `%n` would store into a variable, and its name would be evaluated.
  printf: (words) => (printing.test(words[1] ?? "") ? reads() : never("its format may set a variable")),
  type: (words) => lookup(words),
  command: (words) =>
    /^-[vV]$/.test(words[1] ?? "") ? lookup(words.slice(1)) : wary(words, "it runs another command"),
  test: (words) => condition(words.slice(1)),
  "[": (words) => (words.at(-1) === "]" ? condition(words.slice(1, -1)) : never("the condition is not closed")),
  // Where it leads is checked like every path, and what follows is looked at from there as well.
  cd: (words) =>
    words.length === 2 && !words[1]?.startsWith("-") && words[1] !== ""
      ? reads(words.slice(1))
      : never("it goes where its words do not tell"),
};

/** A format of ordinary conversions alone. */
const printing = /^(?!-)(?:[^%]|%[-+ #0]*\d{0,4}(?:\.\d{0,4})?[sbqcdiuxXoeEfFgG%])*$/;

/** Every other command that is the shell's own. They change the shell, run text as code, or tell what it knows. */
export const shellCommands: ReadonlySet<string> = new Set(
  "alias bg bind break builtin caller compgen complete compopt continue declare dirs disown enable eval exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd pushd read readarray readonly return set shift shopt source . suspend times trap typeset ulimit umask unalias unset wait chdir noglob".split(
    " ",
  ),
);

/** Names alone: nothing is run, and nothing found is opened. */
const lookup = (words: readonly string[]): ReturnType<Student> =>
  words.slice(1).every((word) => /^[\w.+-]+$/.test(word) && !word.startsWith("-"))
    ? reads()
    : wary(words, "its options are not known");

/** Tests of files and texts. Others evaluate what they compare. */
const condition = (words: readonly string[]): ReturnType<Student> => {
  const [first = "", second = "", third] = words[0] === "!" ? words.slice(1) : words;
  const count = words.length - (words[0] === "!" ? 1 : 0);
  if (count === 2 && /^-[defhLrswxS]$/.test(first)) return reads([second]);
  if (count === 2 && /^-[nz]$/.test(first)) return reads();
  if (count === 3 && /^(?:=|==|!=)$/.test(second) && third !== undefined) return reads();
  return never("the condition is not a plain one");
};
