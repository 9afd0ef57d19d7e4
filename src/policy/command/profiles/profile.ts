import type { FolderReading } from "../read-check.ts";

/**
 * A command profile: what a program does with its arguments, judged by the words alone.
 *
 * `requiredWords` is how many of its first words a rule must contain to allow it: none for read-only commands,
 * program and subcommand for ordinary changes, all words where an argument could change everything. Undefined if
 * no rule can allow it.
 */
export type CommandProfile = {
  readonly requiredWords: number | undefined;
  /** Why it does not run without approval, as a phrase; empty for an unknown program. */
  readonly reason: string;
  /** Arguments that are paths and must stay inside the workspace. */
  readonly paths: readonly string[];
  /** How it reads those that are folders; default: "names". */
  readonly folderReading?: FolderReading;
  /** Set if it reads the git repository, whose configuration can make it run a program. */
  readonly usesRepository?: true;
};

/** Classifies the words of a command, its name first. */
export type CommandClassifier = (words: readonly string[]) => CommandProfile;

/** A command that reads these files and has no side effect. */
export const readOnlyProfile = (paths: readonly string[] = [], folderReading?: FolderReading): CommandProfile => ({
  requiredWords: 0,
  reason: "read-only",
  paths,
  ...(folderReading && { folderReading }),
});

/** Only a rule with all of its words allows it; no rule does if one of them leads out of the workspace. */
export const exactRuleProfile = (words: readonly string[], reason: string): CommandProfile => ({
  requiredWords: words.length,
  reason,
  paths: listPathWords(words),
});

/** Lists arguments, and values after an equals sign, that could be paths outside the folder. */
export const listPathWords = (words: readonly string[]): readonly string[] =>
  words
    .slice(1)
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
    .filter((word) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(word));

/** No rule can allow it. */
export const noRuleProfile = (reason: string): CommandProfile => ({ requiredWords: undefined, reason, paths: [] });
