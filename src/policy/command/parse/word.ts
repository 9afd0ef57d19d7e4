import type { Word, WordPart } from "unbash";

/** A word as far as its text tells: literal pieces, and pieces only a running shell knows, as they are written. */
export type PossibleWord = readonly WordPiece[];

export type WordPiece =
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
export const literalWord = (text: string): PossibleWord => [text];

/** The word, where all of it is known. */
export const literalText = (word: PossibleWord): string | undefined =>
  word.every((piece) => typeof piece === "string") ? word.join("") : undefined;

/** The word without its quotes, what is unknown as written: text for a shell that reads it again. */
export const sourceText = (word: PossibleWord): string =>
  word.map((piece) => (typeof piece === "string" ? piece : piece.unknown)).join("");

/**
 * Whether a word could turn out to be this name, or a path that ends with it,
 * in capitals or not. A word that says nothing of its last part could be
 * anything, and counts as nothing.
 */
export const couldMatchName = (word: PossibleWord, name: string): boolean => {
  const last = lastPathPart(word);
  const wanted = name.toLowerCase();
  if (!last.some((piece) => (typeof piece === "string" ? piece !== "" : isOneCharacter(piece.unknown)))) return false;
  /** How much of the name can have been read by then. */
  let ends: readonly number[] = [0];
  for (const piece of last) ends = [...new Set(ends.flatMap((end) => matchEnds(piece, wanted, end)))];
  return ends.includes(wanted.length);
};

/** The pieces after the last slash. */
const lastPathPart = (word: PossibleWord): PossibleWord => {
  const at = word.findLastIndex((piece) => typeof piece === "string" && piece.includes("/"));
  const piece = word[at];
  return typeof piece === "string" ? [piece.slice(piece.lastIndexOf("/") + 1), ...word.slice(at + 1)] : word;
};

const matchEnds = (piece: WordPiece, name: string, end: number): readonly number[] => {
  if (typeof piece === "string") return name.startsWith(piece.toLowerCase(), end) ? [end + piece.length] : [];
  if (isOneCharacter(piece.unknown)) return end < name.length ? [end + 1] : [];
  return Array.from({ length: name.length - end + 1 }, (_, more) => end + more);
};

const isOneCharacter = (pattern: string): boolean => /^(?:\?|\[.*\])$/s.test(pattern);

/** The words a word of the syntax can become: one, or several where braces are expanded. */
export const possibleWords = (word: Word, parse: (text: string) => readonly Word[]): readonly PossibleWord[] => {
  if (!word.parts?.some((part) => part.type === "BraceExpansion")) return [readPieces(word)];
  const texts = expandBraces(word.text);
  return texts.flatMap((text) => (text === word.text ? [readPieces(word)] : parse(text).map(readPieces)));
};

const readPieces = (word: Word): PossibleWord =>
  mergePieces(
    word.parts === undefined ? splitTildes(word.value) : word.parts.flatMap((part) => readPartPieces(part, false)),
  );

/** `~` and `~name` stand for folders at the start of a word, and after `=` and `:`. */
const splitTildes = (text: string): readonly WordPiece[] =>
  text
    .split(/((?<![^=:])~[^/:]*)/)
    .map((piece, at) => (at % 2 === 1 ? { unknown: piece } : piece))
    .filter((piece) => piece !== "");

const readPartPieces = (part: WordPart, isQuoted: boolean): readonly WordPiece[] => {
  switch (part.type) {
    case "Literal":
      return splitTildes(part.value);
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.flatMap((inner) => readPartPieces(inner, true));
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
      return [readVariable(part, isQuoted)];
  }
};

type VariablePart = Extract<WordPart, { readonly type: "SimpleExpansion" | "ParameterExpansion" }>;

const readVariable = (part: VariablePart, isQuoted: boolean): WordPiece => {
  const variable = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  const operation = part.type === "ParameterExpansion" ? part.operation : undefined;
  const isChosen = operation?.type === "Default" && !operation.operator.includes("?");
  return {
    unknown: part.text,
    ...((!isQuoted || variable === "@") && { splits: true }),
    // What is cut out of a variable is not its value.
    ...((operation === undefined || isChosen || variable === "IFS") && { variable }),
    ...(isChosen && { otherwise: sourceText(readPieces(operation.operand)) }),
  };
};

const mergePieces = (list: readonly WordPiece[]): PossibleWord => {
  const word: WordPiece[] = [];
  for (const piece of list) {
    const last = word.at(-1);
    if (typeof piece === "string" && typeof last === "string") word[word.length - 1] = last + piece;
    else word.push(piece);
  }
  return word.length === 0 ? [""] : word;
};

const maxWords = 64;

/** `a{b,c}d` as `abd acd`. Ranges, and what would become too many words, stay as they are. */
const expandBraces = (text: string): readonly string[] => {
  let done: readonly string[] = [text];
  for (;;) {
    const next = done.flatMap(expandFirstBrace);
    if (next.length === done.length) return done;
    if (next.length > maxWords) return [text];
    done = next;
  }
};

/** Expands the first brace that has no other inside. Quotes are left alone: a comma inside them splits all the same, which only adds words. */
const expandFirstBrace = (text: string): readonly string[] => {
  const found = /(?<!\$)\{([^{},]*(?:,[^{},]*)+)\}/.exec(text);
  if (found === null) return [text];
  const [whole, inside = ""] = found;
  const after = text.slice(found.index + whole.length);
  return inside.split(",").map((part) => text.slice(0, found.index) + part + after);
};
