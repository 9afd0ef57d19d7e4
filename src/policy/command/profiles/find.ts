import { readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** Classifies find. Tests and printing are read-only; everything that runs, removes or writes needs an exact rule. */
export const classifyFind: CommandClassifier = (words) => {
  const rest = words
    .slice(1)
    .filter((word, at, all) => !(word === "-P" && all.slice(0, at).every((other) => other === "-P")));
  const end = rest.findIndex((word) => /^[-(!),]/.test(word));
  const starts = end < 0 ? rest : rest.slice(0, end);
  const paths = [...starts];
  for (let at = starts.length; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (testsWithoutValue.has(word)) continue;
    const value = rest[at + 1];
    const isFile = testsWithFile.test(word);
    if (!isFile && !testsWithText.has(word) && !/^-newer[aBcm]t$/.test(word))
      return exactRuleProfile(words, `${word} is not known to be read-only`);
    if (value === undefined) return exactRuleProfile(words, `${word} has no value`);
    if (isFile) paths.push(value);
    at++;
  }
  return readOnlyProfile(paths);
};

const testsWithoutValue: ReadonlySet<string> = new Set(
  "( ) ! -not -a -and -o -or -empty -print -print0 -prune -quit -ls -true -false -mount -xdev -daystart -readable -writable -executable -nouser -nogroup".split(
    " ",
  ),
);

const testsWithText: ReadonlySet<string> = new Set(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -perm -user -group -uid -gid -links -inum -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -printf".split(
    " ",
  ),
);

const testsWithFile = /^-(?:newer(?:[aBcm][aBcm])?|anewer|cnewer|samefile)$/;
