import type { FolderReading } from "../read-check.ts";

/**
 * What is known of one command by its words alone.
 *
 * `needs` is how many of its first words a rule must spell out to allow it: none
 * for what only reads, the command and its subcommand for what changes things in
 * ordinary ways, all of them where an argument could change everything. Undefined
 * where no rule can.
 */
export type CommandProfile = {
  readonly requiredWords: number | undefined;
  /** What speaks against running it unasked, or what it does. */
  readonly reason: string;
  /** Words that must stay inside the workspace. */
  readonly paths: readonly string[];
  /** How it reads those that are folders; by their names alone if not given. */
  readonly folderReading?: FolderReading;
  /** Set where it looks into the repository around it, whose settings can make it run something. */
  readonly usesRepository?: true;
};

/** Looks at the words of a command, its name first. */
export type CommandClassifier = (words: readonly string[]) => CommandProfile;

/** It reads these files, and does nothing else. */
export const readOnlyProfile = (paths: readonly string[] = [], folders?: FolderReading): CommandProfile => ({
  requiredWords: 0,
  reason: "it only reads",
  paths,
  ...(folders && { folderReading: folders }),
});

/** Only a rule with all of its words allows it, and none if one of them leads out of the workspace. */
export const exactRuleProfile = (words: readonly string[], why: string): CommandProfile => ({
  requiredWords: words.length,
  reason: why,
  paths: listPathWords(words),
});

/** Words, or values after an equals sign, that could lead anywhere as paths. */
export const listPathWords = (words: readonly string[]): readonly string[] =>
  words
    .slice(1)
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
    .filter((word) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(word));

/** No rule allows it. */
export const noRuleProfile = (why: string): CommandProfile => ({ requiredWords: undefined, reason: why, paths: [] });
