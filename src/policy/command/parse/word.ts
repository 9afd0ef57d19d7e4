import type { Word, WordPart } from "unbash";

/** A word as far as its text shows: literal pieces, and source text of pieces that are known only at run time. */
export type PossibleWord = readonly WordPiece[];

export type WordPiece =
  | string
  | {
      readonly unknown: string;
      /** Whether a shell splits its expansion into several words. */
      readonly splits?: true;
      /** The variable it expands. */
      readonly variable?: string;
      /** The alternative value of `${name:-value}` and similar. */
      readonly otherwise?: string;
    };

/** A fully known word. */
export const literalWord = (text: string): PossibleWord => [text];

/** The word's text; undefined unless it is fully known. */
export const literalText = (word: PossibleWord): string | undefined =>
  word.every((piece) => typeof piece === "string") ? word.join("") : undefined;

/** The word's text without quotes, unknown pieces as written: input for a shell that parses it again. */
export const sourceText = (word: PossibleWord): string =>
  word.map((piece) => (typeof piece === "string" ? piece : piece.unknown)).join("");

/**
 * Whether a word could expand to this name, or to a path that ends with it, ignoring case. A word whose last
 * part is entirely unknown could be anything, and does not count as a match.
 */
export const couldMatchName = (word: PossibleWord, name: string): boolean => {
  const last = lastPathPart(word);
  const wanted = name.toLowerCase();
  if (!last.some((piece) => (typeof piece === "string" ? piece !== "" : isOneCharacter(piece.unknown)))) return false;
  /** The positions in the name that can be reached so far. */
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

/** Lists the words a syntax word can become: one, or several after brace expansion. */
export const possibleWords = (word: Word, parse: (text: string) => readonly Word[]): readonly PossibleWord[] => {
  if (!word.parts?.some((part) => part.type === "BraceExpansion")) return [readPieces(word)];
  const texts = expandBraces(word.text);
  return texts.flatMap((text) => (text === word.text ? [readPieces(word)] : parse(text).map(readPieces)));
};

const readPieces = (word: Word): PossibleWord =>
  mergePieces(
    word.parts === undefined ? splitTildes(word.value) : word.parts.flatMap((part) => readPartPieces(part, false)),
  );

/** Marks `~` and `~name` as unknown at the start of a word, and after `=` and `:` (tilde expansion). */
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
    // A substring or replacement of a variable is not its value.
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

/** Expands `a{b,c}d` to `abd acd`. Ranges, and braces with too many results, stay as they are. */
const expandBraces = (text: string): readonly string[] => {
  let done: readonly string[] = [text];
  for (;;) {
    const next = done.flatMap(expandFirstBrace);
    if (next.length === done.length) return done;
    if (next.length > maxWords) return [text];
    done = next;
  }
};

/** Expands the first innermost brace. Quotes are ignored: a comma inside them splits too, which only adds words. */
const expandFirstBrace = (text: string): readonly string[] => {
  const found = /(?<!\$)\{([^{},]*(?:,[^{},]*)+)\}/.exec(text);
  if (found === null) return [text];
  const [whole, inside = ""] = found;
  const after = text.slice(found.index + whole.length);
  return inside.split(",").map((part) => text.slice(0, found.index) + part + after);
};
