import { gitGrammars } from "./command-git-options.ts";
import { filesAfterPattern, readOptions } from "./command-options.ts";
import { never, wary, type Student, type Study } from "./command-study.ts";

/**
 * git: questions run unasked, ordinary work by a rule that names the subcommand,
 * and everything that names programs, other repositories or places to write to
 * only by a rule with every word of it.
 */
export const git: Student = (words) => {
  const at = words.findIndex((word, index) => index > 0 && !harmlessFirst.test(word));
  const name = words[at];
  if (name === undefined) return never("git alone does nothing");
  const rest = words.slice(at + 1);
  const found = gitGrammars(name, rest);
  if (found === undefined) return wary(words, `git ${name} is not known to be harmless`);
  const options = readOptions(found.skips === undefined ? rest : rest.slice(found.skips), found.grammar);
  if (typeof options === "string") return wary(words, options);
  const fault = found.fault?.(options) ?? formatFault(options.given);
  if (fault !== undefined) return wary(words, fault);
  const named = found.pattern ? [...options.paths, ...filesAfterPattern(options)] : options.paths;
  const paths = [...named, ...options.operands.flatMap(fileInRevision)];
  const study: Study = { needs: 0, why: "it only asks git", paths, repository: true };
  if (found.asks) return study;
  return { ...study, needs: at + 1 + (found.skips ?? 0), why: `git ${name} changes things` };
};

const harmlessFirst = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/;

/** The file that `HEAD:file` and `:0:file` name. */
const fileInRevision = (operand: string): readonly string[] => {
  const file = operand.slice(operand.lastIndexOf(":") + 1);
  return operand.includes(":") && file !== "" && !file.startsWith("/") ? [file] : [];
};

/** A format can ask for signatures to be checked, by a program. */
const formatFault = (given: readonly { readonly value: string | undefined }[]): string | undefined =>
  given.some(({ value }) => /%G|signature/.test(value ?? ""))
    ? "a signature would be checked by another program"
    : undefined;
