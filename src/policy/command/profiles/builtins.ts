import { noRuleProfile, readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** Bash builtins that are known to be harmless, by name. */
export const shellBuiltins: Readonly<Record<string, CommandClassifier>> = {
  echo: () => readOnlyProfile(),
  true: () => readOnlyProfile(),
  false: () => readOnlyProfile(),
  ":": () => readOnlyProfile(),
  pwd: (words) =>
    words.slice(1).every((word) => /^-[LP]$/.test(word))
      ? readOnlyProfile()
      : exactRuleProfile(words, "unknown options"),
  // An option or `%n` would assign a variable, whose name is evaluated.
  printf: (words) =>
    plainFormat.test(words[1] ?? "") ? readOnlyProfile() : noRuleProfile("the format may set a variable"),
  type: (words) => classifyLookup(words),
  command: (words) =>
    /^-[vV]$/.test(words[1] ?? "") ? classifyLookup(words.slice(1)) : exactRuleProfile(words, "runs another command"),
  test: (words) => classifyCondition(words.slice(1)),
  "[": (words) =>
    words.at(-1) === "]" ? classifyCondition(words.slice(1, -1)) : noRuleProfile("the condition is not closed"),
  // Its target is checked like every path, and the commands after it are analyzed from there too.
  cd: (words) =>
    words.length === 2 && !words[1]?.startsWith("-") && words[1] !== ""
      ? readOnlyProfile(words.slice(1))
      : noRuleProfile("the folder is not a literal path"),
};

/** A printf format with ordinary conversions only. */
const plainFormat = /^(?!-)(?:[^%]|%[-+ #0]*\d{0,4}(?:\.\d{0,4})?[sbqcdiuxXoeEfFgG%])*$/;

/** All other bash builtins: they change the shell's state, run text as code, or print that state. */
export const statefulBuiltins: ReadonlySet<string> = new Set(
  "alias bg bind break builtin caller compgen complete compopt continue declare dirs disown enable eval exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd pushd read readarray readonly return set shift shopt source . suspend times trap typeset ulimit umask unalias unset wait chdir noglob".split(
    " ",
  ),
);

/** Looks up names only: nothing is run, and no file is opened. */
const classifyLookup = (words: readonly string[]): ReturnType<CommandClassifier> =>
  words.slice(1).every((word) => /^[\w.+-]+$/.test(word) && !word.startsWith("-"))
    ? readOnlyProfile()
    : exactRuleProfile(words, "unknown options");

/** Allows tests of files and strings. Other tests evaluate their operands as arithmetic. */
const classifyCondition = (words: readonly string[]): ReturnType<CommandClassifier> => {
  const [first = "", second = "", third] = words[0] === "!" ? words.slice(1) : words;
  const count = words.length - (words[0] === "!" ? 1 : 0);
  if (count === 2 && /^-[defhLrswxS]$/.test(first)) return readOnlyProfile([second]);
  if (count === 2 && /^-[nz]$/.test(first)) return readOnlyProfile();
  if (count === 3 && /^(?:=|==|!=)$/.test(second) && third !== undefined) return readOnlyProfile();
  return noRuleProfile("unsupported condition");
};
