import type { Word, WordPart } from "unbash";

/** A word as far as its text tells: literal pieces, and pieces only a running shell knows, as they are written. */
export type PossibleWord = readonly Piece[];

export type Piece =
  | string
  | {
      readonly unknown: string;
      /** Whether a shell would split what it becomes into several words. */
      readonly splits?: true;
      /** The variable it stands for. */
      readonly variable?: string;
      /** What it becomes where the variable is not set, or is. */
      readonly otherwise?: string;
    };

/** A word of which everything is known. */
export const known = (text: string): PossibleWord => [text];

/** The word, where all of it is known. */
export const literalOf = (word: PossibleWord): string | undefined =>
  word.every((piece) => typeof piece === "string") ? word.join("") : undefined;

/** The word without its quotes, what is unknown as written: text for a shell that reads it again. */
export const spelled = (word: PossibleWord): string =>
  word.map((piece) => (typeof piece === "string" ? piece : piece.unknown)).join("");

/**
 * Whether a word could turn out to be this name, or a path that ends with it,
 * in capitals or not. A word that says nothing of its last part could be
 * anything, and counts as nothing.
 */
export const couldName = (word: PossibleWord, name: string): boolean => {
  const last = lastPart(word);
  const wanted = name.toLowerCase();
  if (!last.some((piece) => (typeof piece === "string" ? piece !== "" : isOneCharacter(piece.unknown)))) return false;
  /** How much of the name can have been read by then. */
  let ends: readonly number[] = [0];
  for (const piece of last) ends = [...new Set(ends.flatMap((end) => endsAfter(piece, wanted, end)))];
  return ends.includes(wanted.length);
};

/** The pieces after the last slash. */
const lastPart = (word: PossibleWord): PossibleWord => {
  const at = word.findLastIndex((piece) => typeof piece === "string" && piece.includes("/"));
  const piece = word[at];
  return typeof piece === "string" ? [piece.slice(piece.lastIndexOf("/") + 1), ...word.slice(at + 1)] : word;
};

const endsAfter = (piece: Piece, name: string, end: number): readonly number[] => {
  if (typeof piece === "string") return name.startsWith(piece.toLowerCase(), end) ? [end + piece.length] : [];
  if (isOneCharacter(piece.unknown)) return end < name.length ? [end + 1] : [];
  return Array.from({ length: name.length - end + 1 }, (_, more) => end + more);
};

const isOneCharacter = (pattern: string): boolean => /^(?:\?|\[.*\])$/s.test(pattern);

/** The words a word of the syntax can become: one, or several where braces are expanded. */
export const possibleWords = (word: Word, parse: (text: string) => readonly Word[]): readonly PossibleWord[] => {
  if (!word.parts?.some((part) => part.type === "BraceExpansion")) return [pieces(word)];
  const texts = expandBraces(word.text);
  return texts.flatMap((text) => (text === word.text ? [pieces(word)] : parse(text).map(pieces)));
};

const pieces = (word: Word): PossibleWord =>
  merged(word.parts === undefined ? homes(word.value) : word.parts.flatMap((part) => piecesOf(part, false)));

/** `~` and `~name` stand for folders at the start of a word, and after `=` and `:`. */
const homes = (text: string): readonly Piece[] =>
  text
    .split(/((?<![^=:])~[^/:]*)/)
    .map((piece, at) => (at % 2 === 1 ? { unknown: piece } : piece))
    .filter((piece) => piece !== "");

const piecesOf = (part: WordPart, isQuoted: boolean): readonly Piece[] => {
  switch (part.type) {
    case "Literal":
      return homes(part.value);
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.flatMap((inner) => piecesOf(inner, true));
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
    case "ProcessSubstitution":
      return [{ unknown: part.text }];
    case "CommandExpansion":
    case "ArithmeticExpansion":
      return [{ unknown: part.text, ...(!isQuoted && { splits: true }) }];
    case "SimpleExpansion":
    case "ParameterExpansion":
      return [variableOf(part, isQuoted)];
  }
};

type VariablePart = Extract<WordPart, { readonly type: "SimpleExpansion" | "ParameterExpansion" }>;

const variableOf = (part: VariablePart, isQuoted: boolean): Piece => {
  const variable = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  const operation = part.type === "ParameterExpansion" ? part.operation : undefined;
  const isChosen = operation?.type === "Default" && !operation.operator.includes("?");
  return {
    unknown: part.text,
    ...((!isQuoted || variable === "@") && { splits: true }),
    // What is cut out of a variable is not its value.
    ...((operation === undefined || isChosen || variable === "IFS") && { variable }),
    ...(isChosen && { otherwise: spelled(pieces(operation.operand)) }),
  };
};

const merged = (list: readonly Piece[]): PossibleWord => {
  const word: Piece[] = [];
  for (const piece of list) {
    const last = word.at(-1);
    if (typeof piece === "string" && typeof last === "string") word[word.length - 1] = last + piece;
    else word.push(piece);
  }
  return word.length === 0 ? [""] : word;
};

const mostWords = 64;

/** `a{b,c}d` as `abd acd`. Ranges, and what would become too many words, stay as they are. */
const expandBraces = (text: string): readonly string[] => {
  let done: readonly string[] = [text];
  for (;;) {
    const next = done.flatMap(expandFirst);
    if (next.length === done.length) return done;
    if (next.length > mostWords) return [text];
    done = next;
  }
};

/** Expands the first brace that has no other inside. Quotes are left alone: a comma inside them splits all the same, which only adds words. */
const expandFirst = (text: string): readonly string[] => {
  const found = /(?<!\$)\{([^{},]*(?:,[^{},]*)+)\}/.exec(text);
  if (found === null) return [text];
  const [whole, inside = ""] = found;
  const after = text.slice(found.index + whole.length);
  return inside.split(",").map((part) => text.slice(0, found.index) + part + after);
};
