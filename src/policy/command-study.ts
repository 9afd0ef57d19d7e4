import type { FolderReading } from "./command-reads.ts";

/**
 * What is known of one command by its words alone.
 *
 * `needs` is how many of its first words a rule must spell out to allow it: none
 * for what only reads, the command and its subcommand for what changes things in
 * ordinary ways, all of them where an argument could change everything. Undefined
 * where no rule can.
 */
export type Study = {
  readonly needs: number | undefined;
  /** What speaks against running it unasked, or what it does. */
  readonly why: string;
  /** Words that must stay inside the workspace. */
  readonly paths: readonly string[];
  /** How it reads those that are folders; by their names alone if not given. */
  readonly folders?: FolderReading;
  /** Set where it looks into the repository around it, whose settings can make it run something. */
  readonly repository?: true;
};

/** Looks at the words of a command, its name first. */
export type Student = (words: readonly string[]) => Study;

/** It reads these files, and does nothing else. */
export const reads = (paths: readonly string[] = [], folders?: FolderReading): Study => ({
  needs: 0,
  why: "it only reads",
  paths,
  ...(folders && { folders }),
});

/** Only a rule with all of its words allows it, and none if one of them leads out of the workspace. */
export const wary = (words: readonly string[], why: string): Study => ({
  needs: words.length,
  why,
  paths: farWords(words),
});

/** Words, or values after an equals sign, that could lead anywhere as paths. */
export const farWords = (words: readonly string[]): readonly string[] =>
  words
    .slice(1)
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
    .filter((word) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(word));

/** No rule allows it. */
export const never = (why: string): Study => ({ needs: undefined, why, paths: [] });
