import { noRuleProfile, readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** What bash does itself, by name, as far as it is known to be harmless. */
export const shellBuiltins: Readonly<Record<string, CommandClassifier>> = {
  echo: () => readOnlyProfile(),
  true: () => readOnlyProfile(),
  false: () => readOnlyProfile(),
  ":": () => readOnlyProfile(),
  pwd: (words) =>
    words.slice(1).every((word) => /^-[LP]$/.test(word))
      ? readOnlyProfile()
      : exactRuleProfile(words, "its options are not known"),
  // An option or `%n` would store into a variable, and its name would be evaluated.
  printf: (words) =>
    plainFormat.test(words[1] ?? "") ? readOnlyProfile() : noRuleProfile("its format may set a variable"),
  type: (words) => classifyLookup(words),
  command: (words) =>
    /^-[vV]$/.test(words[1] ?? "")
      ? classifyLookup(words.slice(1))
      : exactRuleProfile(words, "it runs another command"),
  test: (words) => classifyCondition(words.slice(1)),
  "[": (words) =>
    words.at(-1) === "]" ? classifyCondition(words.slice(1, -1)) : noRuleProfile("the condition is not closed"),
  // Where it leads is checked like every path, and what follows is looked at from there as well.
  cd: (words) =>
    words.length === 2 && !words[1]?.startsWith("-") && words[1] !== ""
      ? readOnlyProfile(words.slice(1))
      : noRuleProfile("it goes where its words do not tell"),
};

/** A format of ordinary conversions alone. */
const plainFormat = /^(?!-)(?:[^%]|%[-+ #0]*\d{0,4}(?:\.\d{0,4})?[sbqcdiuxXoeEfFgG%])*$/;

/** Every other command that is the shell's own. They change the shell, run text as code, or tell what it knows. */
export const statefulBuiltins: ReadonlySet<string> = new Set(
  "alias bg bind break builtin caller compgen complete compopt continue declare dirs disown enable eval exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd pushd read readarray readonly return set shift shopt source . suspend times trap typeset ulimit umask unalias unset wait chdir noglob".split(
    " ",
  ),
);

/** Names alone: nothing is run, and nothing found is opened. */
const classifyLookup = (words: readonly string[]): ReturnType<CommandClassifier> =>
  words.slice(1).every((word) => /^[\w.+-]+$/.test(word) && !word.startsWith("-"))
    ? readOnlyProfile()
    : exactRuleProfile(words, "its options are not known");

/** Tests of files and texts. Others evaluate what they compare. */
const classifyCondition = (words: readonly string[]): ReturnType<CommandClassifier> => {
  const [first = "", second = "", third] = words[0] === "!" ? words.slice(1) : words;
  const count = words.length - (words[0] === "!" ? 1 : 0);
  if (count === 2 && /^-[defhLrswxS]$/.test(first)) return readOnlyProfile([second]);
  if (count === 2 && /^-[nz]$/.test(first)) return readOnlyProfile();
  if (count === 3 && /^(?:=|==|!=)$/.test(second) && third !== undefined) return readOnlyProfile();
  return noRuleProfile("the condition is not a plain one");
};
