import { findGitGrammar } from "./git-options.ts";
import { filesAfterPattern, parseOptions } from "./options.ts";
import { noRuleProfile, exactRuleProfile, type CommandClassifier, type CommandProfile } from "./profile.ts";

/**
 * git: questions run unasked, ordinary work by a rule that names the subcommand,
 * and everything that names programs, other repositories or places to write to
 * only by a rule with every word of it.
 */
export const classifyGit: CommandClassifier = (words) => {
  const at = words.findIndex((word, index) => index > 0 && !harmlessGlobalOptions.test(word));
  const name = words[at];
  if (name === undefined) return noRuleProfile("git alone does nothing");
  const rest = words.slice(at + 1);
  const found = findGitGrammar(name, rest);
  if (found === undefined) return exactRuleProfile(words, `git ${name} is not known to be harmless`);
  const options = parseOptions(
    found.extraNameWords === undefined ? rest : rest.slice(found.extraNameWords),
    found.grammar,
  );
  if (typeof options === "string") return exactRuleProfile(words, options);
  const fault = found.check?.(options) ?? checkFormat(options.options);
  if (fault !== undefined) return exactRuleProfile(words, fault);
  const named = found.pattern ? [...options.paths, ...filesAfterPattern(options)] : options.paths;
  const paths = [...named, ...options.operands.flatMap(filesInRevision)];
  const study: CommandProfile = { requiredWords: 0, reason: "it only asks git", paths, usesRepository: true };
  if (found.isReadOnly) return study;
  return { ...study, requiredWords: at + 1 + (found.extraNameWords ?? 0), reason: `git ${name} changes things` };
};

const harmlessGlobalOptions = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/;

/** The file that `HEAD:file` and `:0:file` name. */
const filesInRevision = (operand: string): readonly string[] => {
  const file = operand.slice(operand.lastIndexOf(":") + 1);
  return operand.includes(":") && file !== "" && !file.startsWith("/") ? [file] : [];
};

/** A format can ask for signatures to be checked, by a program. */
const checkFormat = (given: readonly { readonly value: string | undefined }[]): string | undefined =>
  given.some(({ value }) => /%G|signature/.test(value ?? ""))
    ? "a signature would be checked by another program"
    : undefined;
