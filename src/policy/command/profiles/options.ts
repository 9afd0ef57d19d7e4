/**
 * The options of a program that are known to do no harm. What is not listed is
 * not known. Lists are words with spaces between them; long options stand
 * without their dashes and are never abbreviated.
 */
export type OptionGrammar = {
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters with a value. */
  readonly values?: OptionValues;
  /** Long options without a value. A value after `=` is fine: it only says when or how. */
  readonly long?: string;
  /** Long options with a value. */
  readonly longValues?: OptionValues;
  /** Whether `-5` is a number of lines. */
  readonly allowsCount?: true;
  readonly operands: "paths" | "text" | "none";
  /** More operands than this are not known. */
  readonly maxOperands?: number;
};

/** Options by the kind of value they take. */
type OptionValues = { readonly text?: string; readonly number?: string; readonly path?: string };

/** Words read by a grammar. `paths` are all that may name a file. */
export type ParsedOptions = {
  readonly options: readonly { readonly name: string; readonly value: string | undefined }[];
  readonly operands: readonly string[];
  readonly paths: readonly string[];
};

/** Reads the words after a program's name. A text says what is not known. */
export const parseOptions = (words: readonly string[], grammar: OptionGrammar): ParsedOptions | string => {
  const given: { name: string; value: string | undefined }[] = [];
  const operands: string[] = [];
  const paths: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    const read = isOption(word) ? parseOption(word, words[at + 1], grammar) : [];
    if (typeof read === "string") return read;
    if (!isOption(word)) operands.push(word);
    given.push(...read.map(({ name, value }) => ({ name, value })));
    paths.push(...read.flatMap(({ kind, value }) => (kind === "path" && value !== undefined ? [value] : [])));
    if (read.at(-1)?.isNext === true) at++;
  }
  if (grammar.operands === "none" && operands.length > 0) return `${operands[0]} is not known`;
  if (operands.length > (grammar.maxOperands ?? Infinity)) return "it has more arguments than are known";
  return { options: given, operands, paths: grammar.operands === "paths" ? [...paths, ...operands] : paths };
};

/** The operands that are files where the first one is a pattern, unless an option brings the pattern or asks for files alone. */
export const filesAfterPattern = ({ options: given, operands }: ParsedOptions): readonly string[] =>
  given.some(({ name }) => /^(?:e|f|regexp|file|files|type-list)$/.test(name)) ? operands : operands.slice(1);

const isOption = (word: string): boolean => word.startsWith("-") && word !== "-";

type OptionKind = "flag" | keyof OptionValues;

type ParsedOption = {
  readonly name: string;
  readonly kind: OptionKind;
  readonly value: string | undefined;
  /** Whether the value is the next word. */
  readonly isNext: boolean;
};

const parseOption = (
  word: string,
  next: string | undefined,
  grammar: OptionGrammar,
): readonly ParsedOption[] | string => {
  if (grammar.allowsCount && /^-\d+$/.test(word)) return [];
  if (!word.startsWith("--")) return parseLetters(word, next, grammar);
  const [, name = "", , attached] = /^--([^=]*)(=(.*))?$/s.exec(word) ?? [];
  if (includesWord(grammar.long, name)) return [{ name, kind: "flag", value: attached, isNext: false }];
  const kind = findKind(grammar.longValues, name);
  if (kind === undefined) return `the option ${word.split("=")[0]} is not known`;
  return withValue(name, kind, attached, next);
};

const parseLetters = (
  word: string,
  next: string | undefined,
  grammar: OptionGrammar,
): readonly ParsedOption[] | string => {
  const read: ParsedOption[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? "";
    const kind = findKind(grammar.values, letter);
    if (kind !== undefined) {
      const last = withValue(letter, kind, word.slice(at + 1) || undefined, next);
      return typeof last === "string" ? last : [...read, ...last];
    }
    if (!(grammar.flags ?? "").includes(letter)) return `the option -${letter} is not known`;
    read.push({ name: letter, kind: "flag", value: undefined, isNext: false });
  }
  return read;
};

/** A value in the next word that looks like an option is not taken for one: programs differ about it. */
const withValue = (
  name: string,
  kind: OptionKind,
  attached: string | undefined,
  next: string | undefined,
): readonly ParsedOption[] | string => {
  const value = attached ?? next;
  if (value === undefined) return `the option ${name} lacks its value`;
  if (kind === "number" ? !/^[-+]?\d+[a-zA-Z%]{0,3}$/.test(value) : attached === undefined && isOption(value))
    return `the value of the option ${name} is odd`;
  return [{ name, kind, value, isNext: attached === undefined }];
};

const includesWord = (list: string | undefined, name: string): boolean => list?.split(" ").includes(name) ?? false;

const findKind = (values: OptionValues | undefined, name: string): OptionKind | undefined =>
  (["text", "number", "path"] as const).find((kind) => includesWord(values?.[kind], name));
