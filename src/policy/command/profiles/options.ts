/**
 * The options of a program that are known to be harmless. Options that are not listed are unknown. Lists are
 * separated by spaces; long options are written without their dashes and are never abbreviated.
 */
export type OptionGrammar = {
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options with a value. */
  readonly values?: OptionValues;
  /** Long options without a value. A value after `=` is accepted: it only says when or how. */
  readonly long?: string;
  /** Long options with a value. */
  readonly longValues?: OptionValues;
  /** Whether `-5` means a number of lines. */
  readonly allowsCount?: true;
  readonly operands: "paths" | "text" | "none";
  /** The largest number of operands. */
  readonly maxOperands?: number;
};

/** Options by the kind of value they take. */
type OptionValues = { readonly text?: string; readonly number?: string; readonly path?: string };

/** Arguments parsed with a grammar. `paths` are all that may name a file. */
export type ParsedOptions = {
  readonly options: readonly { readonly name: string; readonly value: string | undefined }[];
  readonly operands: readonly string[];
  readonly paths: readonly string[];
};

/** Parses the arguments of a program. Returns a text that says what is unknown, if anything is. */
export const parseOptions = (words: readonly string[], grammar: OptionGrammar): ParsedOptions | string => {
  const options: { name: string; value: string | undefined }[] = [];
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
    options.push(...read.map(({ name, value }) => ({ name, value })));
    paths.push(...read.flatMap(({ kind, value }) => (kind === "path" && value !== undefined ? [value] : [])));
    if (read.at(-1)?.isNext === true) at++;
  }
  if (grammar.operands === "none" && operands.length > 0) return `unknown argument ${operands[0]}`;
  if (operands.length > (grammar.maxOperands ?? Infinity)) return "too many arguments";
  return { options, operands, paths: grammar.operands === "paths" ? [...paths, ...operands] : paths };
};

/** Lists the operands that are files, when the first operand is a pattern unless an option gives the pattern or lists files only. */
export const filesAfterPattern = ({ options, operands }: ParsedOptions): readonly string[] =>
  options.some(({ name }) => /^(?:e|f|regexp|file|files|type-list)$/.test(name)) ? operands : operands.slice(1);

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
  if (kind === undefined) return `unknown option ${word.split("=")[0]}`;
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
    if (!(grammar.flags ?? "").includes(letter)) return `unknown option -${letter}`;
    read.push({ name: letter, kind: "flag", value: undefined, isNext: false });
  }
  return read;
};

/** Rejects a value in the next word that looks like an option: programs differ in how they parse it. */
const withValue = (
  name: string,
  kind: OptionKind,
  attached: string | undefined,
  next: string | undefined,
): readonly ParsedOption[] | string => {
  const value = attached ?? next;
  if (value === undefined) return `option ${name} has no value`;
  if (kind === "number" ? !/^[-+]?\d+[a-zA-Z%]{0,3}$/.test(value) : attached === undefined && isOption(value))
    return `unexpected value of option ${name}`;
  return [{ name, kind, value, isNext: attached === undefined }];
};

const includesWord = (list: string | undefined, name: string): boolean => list?.split(" ").includes(name) ?? false;

const findKind = (values: OptionValues | undefined, name: string): OptionKind | undefined =>
  (["text", "number", "path"] as const).find((kind) => includesWord(values?.[kind], name));
