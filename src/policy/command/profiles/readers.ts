import { filesAfterPattern, parseOptions, type OptionGrammar, type ParsedOptions } from "./options.ts";
import type { FolderReading } from "../read-check.ts";
import { noRuleProfile, readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** Classifiers of read-only programs, by name, with the options that keep them read-only. */
export const readOnlyPrograms: Readonly<Record<string, CommandClassifier>> = {
  ls: byGrammar({
    flags: "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ",
    long: "all almost-all author classify color directory full-time group-directories-first human-readable inode literal no-group numeric-uid-gid recursive reverse size si",
    longValues: { text: "format hide ignore indicator-style quoting-style sort time time-style", number: "width" },
    operands: "paths",
  }),
  cat: byGrammar({
    flags: "AbeEnstTuv",
    long: "number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank",
    operands: "paths",
  }),
  head: byGrammar({
    flags: "qv",
    values: { number: "n c" },
    longValues: { number: "lines bytes" },
    allowsCount: true,
    operands: "paths",
  }),
  tail: byGrammar({
    flags: "qv",
    values: { number: "n c" },
    longValues: { number: "lines bytes" },
    allowsCount: true,
    operands: "paths",
  }),
  wc: byGrammar({ flags: "clmwL", long: "bytes chars lines words max-line-length", operands: "paths" }),
  nl: byGrammar({ values: { text: "b s", number: "w v i" }, operands: "paths" }),
  tac: byGrammar({ operands: "paths" }),
  rev: byGrammar({ operands: "paths" }),
  sort: byGrammar({
    flags: "bcCdfghiMmnrsuVz",
    values: { text: "k t" },
    long: "numeric-sort reverse unique ignore-case human-numeric-sort version-sort stable check general-numeric-sort",
    longValues: { text: "key field-separator" },
    operands: "paths",
  }),
  // A second operand is an output file.
  uniq: byGrammar({
    flags: "cdDiuz",
    values: { number: "f s w" },
    long: "count repeated unique ignore-case",
    operands: "paths",
    maxOperands: 1,
  }),
  cut: byGrammar({
    flags: "sn",
    values: { text: "b c d f" },
    long: "complement only-delimited",
    longValues: { text: "bytes characters delimiter fields output-delimiter" },
    operands: "paths",
  }),
  tr: byGrammar({ flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: "text" }),
  // Given two folders it reads the files in them; given a file and a folder, the file of that name in the folder.
  diff: withFolderReading(
    "entries",
    byGrammar({
      flags: "abBcdeinNpqstTuwyE",
      values: { number: "U C W" },
      long: "brief unified ignore-all-space ignore-blank-lines ignore-case ignore-space-change ignore-trailing-space side-by-side color minimal report-identical-files suppress-common-lines text new-file strip-trailing-cr",
      longValues: { text: "ignore-matching-lines label", number: "width" },
      operands: "paths",
    }),
  ),
  cmp: byGrammar({ flags: "bls", values: { number: "n i" }, operands: "paths", maxOperands: 2 }),
  comm: byGrammar({ flags: "123i", operands: "paths" }),
  stat: byGrammar({
    flags: "tx",
    values: { text: "c" },
    long: "terse",
    longValues: { text: "format printf" },
    operands: "paths",
  }),
  file: byGrammar({ flags: "bi", long: "brief mime mime-type mime-encoding", operands: "paths" }),
  du: byGrammar({
    flags: "abchkmsx0",
    values: { number: "d" },
    long: "all apparent-size human-readable summarize total",
    longValues: { number: "max-depth", text: "exclude" },
    operands: "paths",
  }),
  tree: byGrammar({
    flags: "adfhpsiCnDFrtu",
    values: { number: "L", text: "I P" },
    long: "dirsfirst noreport gitignore prune",
    operands: "paths",
  }),
  md5sum: byGrammar({ flags: "bt", operands: "paths" }),
  sha1sum: byGrammar({ flags: "bt", operands: "paths" }),
  sha256sum: byGrammar({ flags: "bt", operands: "paths" }),
  sha512sum: byGrammar({ flags: "bt", operands: "paths" }),
  basename: byGrammar({ flags: "az", values: { text: "s" }, operands: "text" }),
  dirname: byGrammar({ flags: "z", operands: "text" }),
  readlink: byGrammar({ flags: "efmnqz", operands: "paths" }),
  realpath: byGrammar({ flags: "emqsz", operands: "paths" }),
  which: byGrammar({ flags: "as", operands: "text" }),
  whoami: byGrammar({ operands: "none" }),
  id: byGrammar({ flags: "ugGnr", operands: "none" }),
  uname: byGrammar({ flags: "amnoprsv", operands: "none" }),
  arch: byGrammar({ operands: "none" }),
  nproc: byGrammar({ operands: "none" }),
  seq: byGrammar({ flags: "w", values: { text: "s" }, operands: "text" }),
  sleep: byGrammar({ operands: "text" }),
  // An operand without a plus sign sets the clock.
  date: byGrammar(
    {
      flags: "uR",
      long: "utc universal rfc-email iso-8601 rfc-3339",
      longValues: { text: "date" },
      values: { text: "d" },
      operands: "text",
    },
    ({ operands }) => (operands.every((operand) => operand.startsWith("+")) ? undefined : "sets the clock"),
  ),
  grep: grepClassifier("aEFGPbchHiIlLnoqrsvwxyT"),
  egrep: grepClassifier("abchHiIlLnoqrsvwxyT"),
  fgrep: grepClassifier("abchHiIlLnoqrsvwxyT"),
  rg: withFolderReading(
    "contents",
    byGrammar(
      {
        flags: "isSvwxnNlcoFPUHIhqp0.au",
        values: { text: "e g t T r E", number: "m A B C M j d", path: "f" },
        long: "block-buffered byte-offset case-sensitive column count count-matches crlf files files-with-matches files-without-match fixed-strings glob-case-insensitive heading hidden ignore-case include-zero invert-match json line-buffered line-number line-regexp max-columns-preview multiline multiline-dotall no-column no-config no-filename no-heading no-hidden no-ignore no-ignore-global no-ignore-parent no-ignore-vcs no-line-number no-messages no-unicode null null-data one-file-system only-matching passthru pcre2 pretty quiet smart-case stats text trim type-list unrestricted version vimgrep with-filename word-regexp",
        longValues: {
          text: "color colors encoding engine glob iglob regexp replace sort sortr type type-not max-filesize context-separator path-separator",
          number: "after-context before-context context max-columns max-count max-depth threads",
          path: "file ignore-file",
        },
        operands: "text",
      },
      listSearchedFiles,
    ),
  ),
};

/** Whether a command only prints a program's version. */
export const isVersionQuery = (name: string, words: readonly string[]): boolean =>
  words.length === 2 &&
  /^(?:node|npm|python3?|git|rg|bash|make|gcc|java|ruby|php|perl)$/.test(name) &&
  (words[1] === "--version" || (words[1] === "-v" && /^(?:node|npm)$/.test(name)));

/** Without a recursive option and without files it reads standard input. */
function grepClassifier(flags: string): CommandClassifier {
  const searches = ({ options }: ParsedOptions): boolean =>
    options.some(({ name }) => /^(?:r|d|recursive|directories)$/.test(name));
  const files = (options: ParsedOptions): readonly string[] =>
    searches(options) ? listSearchedFiles(options) : filesAfterPattern(options);
  return withFolderReading("contents", byGrammar(grepGrammar(flags), files));
}

function grepGrammar(flags: string): OptionGrammar {
  return {
    flags,
    values: { text: "e d D", number: "m A B C", path: "f" },
    long: "basic-regexp binary byte-offset color colour count extended-regexp files-with-matches files-without-match fixed-strings ignore-case initial-tab invert-match line-buffered line-number line-regexp no-filename no-ignore-case no-messages null only-matching perl-regexp quiet recursive silent text with-filename word-regexp",
    longValues: {
      text: "regexp include exclude exclude-dir label binary-files directories devices",
      number: "max-count after-context before-context context",
      path: "file exclude-from",
    },
    allowsCount: true,
    operands: "text",
  };
}

/** Lists the files a search reads; the working folder if it names none. */
function listSearchedFiles(options: ParsedOptions): readonly string[] {
  const files = filesAfterPattern(options);
  return files.length > 0 ? files : ["."];
}

/** Returns a classifier for a program that reads inside folders. */
function withFolderReading(folderReading: FolderReading, classifier: CommandClassifier): CommandClassifier {
  return (words) => ({ ...classifier(words), folderReading });
}

/** Creates a classifier from a grammar. `check` returns a problem, or the operands that are files too. */
function byGrammar(
  grammar: OptionGrammar,
  check?: (options: ParsedOptions) => string | undefined | readonly string[],
): CommandClassifier {
  return (words) => {
    const options = parseOptions(words.slice(1), grammar);
    if (typeof options === "string") return exactRuleProfile(words, options);
    const checked = check?.(options);
    if (typeof checked === "string") return noRuleProfile(checked);
    return readOnlyProfile([...options.paths, ...(checked ?? [])]);
  };
}
