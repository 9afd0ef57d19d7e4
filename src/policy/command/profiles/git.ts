import { findGitGrammar } from "./git-options.ts";
import { filesAfterPattern, parseOptions } from "./options.ts";
import { noRuleProfile, exactRuleProfile, type CommandClassifier, type CommandProfile } from "./profile.ts";

/**
 * Classifies git: read-only subcommands run without approval, changing ones with a rule that names the
 * subcommand, and everything that names programs, other repositories or output files only with a rule
 * that contains every word.
 */
export const classifyGit: CommandClassifier = (words) => {
  const at = words.findIndex((word, index) => index > 0 && !harmlessGlobalOptions.test(word));
  const name = words[at];
  if (name === undefined) return noRuleProfile("git without a subcommand");
  const rest = words.slice(at + 1);
  const gitGrammar = findGitGrammar(name, rest);
  if (gitGrammar === undefined) return exactRuleProfile(words, `git ${name} is not known to be harmless`);
  const options = parseOptions(
    gitGrammar.extraNameWords === undefined ? rest : rest.slice(gitGrammar.extraNameWords),
    gitGrammar.grammar,
  );
  if (typeof options === "string") return exactRuleProfile(words, options);
  const problem = gitGrammar.check?.(options) ?? checkFormat(options.options);
  if (problem !== undefined) return exactRuleProfile(words, problem);
  const namedPaths = gitGrammar.pattern ? [...options.paths, ...filesAfterPattern(options)] : options.paths;
  const paths = [...namedPaths, ...options.operands.flatMap(filesInRevision)];
  const profile: CommandProfile = { requiredWords: 0, reason: "read-only", paths, usesRepository: true };
  if (gitGrammar.isReadOnly) return profile;
  return {
    ...profile,
    requiredWords: at + 1 + (gitGrammar.extraNameWords ?? 0),
    reason: `git ${name} changes the repository`,
  };
};

const harmlessGlobalOptions = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/;

/** The file in `HEAD:file` and `:0:file`. */
const filesInRevision = (operand: string): readonly string[] => {
  const file = operand.slice(operand.lastIndexOf(":") + 1);
  return operand.includes(":") && file !== "" && !file.startsWith("/") ? [file] : [];
};

/** A format can request signature verification, which runs a program. */
const checkFormat = (options: readonly { readonly value: string | undefined }[]): string | undefined =>
  options.some(({ value }) => /%G|signature/.test(value ?? ""))
    ? "checking a signature runs another program"
    : undefined;
