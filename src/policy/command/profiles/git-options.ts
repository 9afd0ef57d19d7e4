import type { OptionGrammar, ParsedOptions } from "./options.ts";

/** The option grammar of one git subcommand. */
export type GitGrammar = {
  readonly grammar: OptionGrammar;
  /** Whether it is read-only. Others need a rule that names them. */
  readonly isReadOnly: boolean;
  /** How many words after the subcommand are part of its name. */
  readonly extraNameWords?: number;
  /** Whether its first operand is a pattern. */
  readonly pattern?: true;
  readonly check?: (options: ParsedOptions) => string | undefined;
};

/** Finds the grammar of a subcommand followed by these words; undefined if it is unknown. */
export const findGitGrammar = (name: string, rest: readonly string[]): GitGrammar | undefined => {
  const second = `${name} ${rest[0] ?? ""}`;
  if (Object.hasOwn(twoWordCommands, second)) return { ...twoWordCommands[second]!, extraNameWords: 1 };
  if (Object.hasOwn(bareForms, name)) return rest.length === 0 ? bareForms[name] : undefined;
  if (name === "branch" || name === "tag") return isListing(rest) ? listing : changingCommands[name];
  if (name === "remote")
    return rest.every((word) => /^(?:-v|--verbose)$/.test(word))
      ? readOnly({ flags: "v", long: "verbose", operands: "none" })
      : undefined;
  if (Object.hasOwn(readOnlyCommands, name)) return readOnlyCommands[name];
  return Object.hasOwn(changingCommands, name) ? changingCommands[name] : undefined;
};

const readOnly = (grammar: OptionGrammar): GitGrammar => ({ grammar, isReadOnly: true });
const readOnlyWithPattern = (grammar: OptionGrammar): GitGrammar => ({ grammar, isReadOnly: true, pattern: true });
const changing = (grammar: OptionGrammar, check?: GitGrammar["check"]): GitGrammar => ({
  grammar,
  isReadOnly: false,
  ...(check && { check }),
});

/** Options of every command that shows changes, without those that write, order by a file, or run a program. */
const diffLong =
  "abbrev abbrev-commit all-match binary cached cc check color color-moved color-words compact-summary cumulative dirstat exit-code find-copies find-copies-harder find-renames full-index function-context histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol ignore-space-at-eol ignore-space-change merge-base minimal name-only name-status no-color no-ext-diff no-indent-heuristic no-patch no-prefix no-renames no-textconv numstat patch patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative shortstat staged stat summary text unified word-diff ignore-submodules";
const diffValues = { text: "diff-algorithm diff-filter word-diff-regex inter-hunk-context" } as const;
const logLong =
  "all author-date-order ancestry-path boundary branches cherry cherry-mark cherry-pick children date-order decorate extended-regexp first-parent fixed-strings follow full-history graph invert-grep left-only left-right log-size merges no-abbrev no-abbrev-commit no-decorate no-expand-tabs no-merges no-notes no-walk notes oneline parents perl-regexp regexp-ignore-case remotes reverse right-only show-notes show-pulls simplify-by-decoration simplify-merges source tags topo-order use-mailmap walk-reflogs";
const logText =
  "after author before committer date encoding exclude format glob grep grep-reflog max-count max-parents min-parents pretty since since-as-filter skip until decorate-refs decorate-refs-exclude";

const log: OptionGrammar = {
  flags: "pusmcwbiEFPgzWt0MC",
  values: { text: "S G L", number: "n U" },
  long: `${diffLong} ${logLong}`,
  longValues: { text: `${diffValues.text} ${logText}` },
  allowsCount: true,
  operands: "paths",
};

const readOnlyCommands: Readonly<Record<string, GitGrammar>> = {
  status: readOnly({
    flags: "sbvz",
    long: "short branch porcelain long verbose show-stash ahead-behind no-ahead-behind renames no-renames untracked-files ignored column no-column null",
    operands: "paths",
  }),
  log: readOnly(log),
  whatchanged: readOnly(log),
  show: readOnly(log),
  diff: readOnly({
    flags: "pusabwzWRt0MC",
    values: { text: "S G", number: "U" },
    long: `${diffLong} base ours theirs`,
    longValues: diffValues,
    operands: "paths",
  }),
  shortlog: readOnly({
    flags: "nsecw",
    long: "numbered summary email committer no-merges all",
    longValues: { text: "since until author group" },
    operands: "paths",
  }),
  blame: readOnly({
    flags: "bcefklnpstwMC",
    values: { text: "L" },
    long: "root show-stats porcelain line-porcelain show-name show-number show-email",
    longValues: { text: "since date" },
    operands: "paths",
  }),
  "rev-parse": readOnly({
    flags: "q",
    long: "abbrev-ref short verify show-toplevel git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup symbolic symbolic-full-name all branches tags remotes quiet absolute-git-dir",
    operands: "paths",
  }),
  "rev-list": readOnly({ ...log, long: `${diffLong} ${logLong} count objects header timestamp` }),
  "ls-files": readOnly({
    flags: "cdmostuz",
    values: { text: "x" },
    long: "cached deleted modified others stage unmerged exclude-standard full-name error-unmatch ignored directory no-empty-directory killed",
    longValues: { text: "exclude" },
    operands: "paths",
  }),
  "ls-tree": readOnly({
    flags: "drtlz",
    long: "name-only name-status long full-name full-tree",
    longValues: { text: "format" },
    operands: "paths",
  }),
  "cat-file": readOnly({ flags: "tsep", operands: "paths" }),
  describe: readOnly({
    long: "tags all always long dirty contains exact-match first-parent abbrev",
    longValues: { text: "match exclude", number: "candidates" },
    operands: "paths",
  }),
  "merge-base": readOnly({ flags: "a", long: "all is-ancestor fork-point octopus independent", operands: "paths" }),
  "name-rev": readOnly({ long: "tags all name-only always", operands: "paths" }),
  "show-ref": readOnly({
    flags: "dhqs",
    long: "head heads tags branches dereference hash verify quiet",
    operands: "paths",
  }),
  "for-each-ref": readOnly({
    long: "ignore-case",
    longValues: { text: "format sort points-at merged no-merged contains no-contains", number: "count" },
    operands: "paths",
  }),
  "diff-tree": readOnly({ ...log, flags: "pusmcwbrtz" }),
  "count-objects": readOnly({ flags: "vH", long: "verbose human-readable", operands: "none" }),
  "check-ignore": readOnly({ flags: "vnq", long: "verbose non-matching quiet no-index", operands: "paths" }),
  version: readOnly({ operands: "none" }),
  grep: readOnlyWithPattern({
    flags: "aEFGPchHiIlLnoqvwzWp",
    values: { text: "e", number: "m A B C", path: "f" },
    long: "all-match and or not basic-regexp cached column color count extended-regexp files-with-matches files-without-match fixed-strings full-name function-context heading ignore-case invert-match line-number name-only no-color no-textconv null only-matching perl-regexp quiet recursive show-function text untracked word-regexp break",
    longValues: { number: "after-context before-context context max-depth max-count threads" },
    allowsCount: true,
    operands: "text",
  }),
};

/** Subcommands of two words. */
const twoWordCommands: Readonly<Record<string, GitGrammar>> = {
  "stash list": readOnly(log),
  "stash show": readOnly(log),
  "reflog show": readOnly(log),
  "remote get-url": readOnly({ long: "all push", operands: "text" }),
  "worktree list": readOnly({ flags: "vz", long: "porcelain verbose", operands: "none" }),
  "stash push": changing({
    flags: "ukqm",
    values: { text: "m" },
    long: "include-untracked keep-index quiet",
    longValues: { text: "message" },
    operands: "paths",
  }),
  "stash pop": changing({ flags: "q", long: "index quiet", operands: "text" }),
  "stash apply": changing({ flags: "q", long: "index quiet", operands: "text" }),
};

const bareForms: Readonly<Record<string, GitGrammar>> = {
  reflog: readOnly(log),
  stash: changing({ operands: "none" }),
};

/** Lists branches and tags: without --list, a name would create one. */
const listing: GitGrammar = readOnly({
  flags: "arvlqin",
  long: "all remotes list verbose show-current ignore-case column no-column color no-color abbrev no-abbrev",
  longValues: { text: "contains no-contains merged no-merged points-at sort format" },
  allowsCount: true,
  operands: "text",
});

const isListing = (rest: readonly string[]): boolean =>
  rest.some((word) => word === "-l" || word === "--list") ||
  rest.every((word, at) => word.startsWith("-") || listingValue.test(rest[at - 1] ?? ""));

const listingValue = /^--(?:contains|no-contains|merged|no-merged|points-at|sort|format)$/;

/** Accepts a remote by name only: a URL could lead anywhere, and some kinds run programs. */
const checkRemoteName = ({ operands: [remote = "origin", ...refs] }: ParsedOptions): string | undefined =>
  /^[\w.-]+$/.test(remote) && refs.every((ref) => /^[\w./:@^-]+$/.test(ref))
    ? undefined
    : `${remote} is not the name of a remote`;

/** Subcommands that change the repository. They may run its hooks, as they do for the user. */
const changingCommands: Readonly<Record<string, GitGrammar>> = {
  add: changing({ flags: "AunvNf", long: "all update dry-run verbose intent-to-add", operands: "paths" }),
  commit: changing({
    flags: "aqvs",
    values: { text: "m", path: "F" },
    long: "all quiet verbose signoff amend no-edit allow-empty dry-run",
    longValues: { text: "message date author", path: "file" },
    operands: "paths",
  }),
  checkout: changing({
    flags: "qft",
    values: { text: "b B" },
    long: "quiet force track detach ours theirs",
    operands: "paths",
  }),
  switch: changing({
    flags: "qfd",
    values: { text: "c C" },
    long: "quiet detach track discard-changes",
    longValues: { text: "create" },
    operands: "text",
  }),
  restore: changing({
    flags: "qSW",
    values: { text: "s" },
    long: "staged worktree quiet",
    longValues: { text: "source" },
    operands: "paths",
  }),
  reset: changing({ flags: "q", long: "soft mixed hard keep merge quiet", operands: "paths" }),
  branch: changing({
    flags: "dDmMfq",
    values: { text: "u" },
    long: "delete force move set-upstream-to",
    operands: "text",
  }),
  tag: changing({
    flags: "adf",
    values: { text: "m" },
    long: "annotate delete force",
    longValues: { text: "message" },
    operands: "text",
  }),
  mv: changing({ flags: "fknv", operands: "paths" }),
  rm: changing({ flags: "frnq", long: "cached force dry-run quiet", operands: "paths" }),
  merge: changing({
    flags: "nq",
    values: { text: "m" },
    long: "ff no-ff ff-only squash no-commit no-edit abort continue quiet",
    operands: "text",
  }),
  rebase: changing({ flags: "q", long: "abort continue skip quiet autostash", operands: "text" }),
  "cherry-pick": changing({ flags: "nx", long: "abort continue skip no-commit", operands: "text" }),
  revert: changing({ flags: "n", long: "no-edit no-commit abort continue", operands: "text" }),
  fetch: changing(
    {
      flags: "apqtv",
      long: "all prune quiet tags verbose dry-run no-tags",
      longValues: { number: "depth" },
      operands: "text",
    },
    checkRemoteName,
  ),
  pull: changing({ flags: "qr", long: "rebase ff-only no-rebase quiet autostash", operands: "text" }, checkRemoteName),
  push: changing(
    { flags: "unqv", long: "set-upstream tags dry-run quiet follow-tags", operands: "text" },
    checkRemoteName,
  ),
};
