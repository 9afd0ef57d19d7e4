import type { CommandWords } from "../effects/nested.ts";
import { literalText, type WordPiece, type PossibleWord } from "./word.ts";

/** The values a variable may have, by name. */
export type VariableValues = { readonly get: (name: string) => readonly string[] | undefined };

/** How many values of each variable are tried. */
const maxReadings = 4;

/**
 * Lists the words a command may have after a shell expanded it: variables replaced by their assigned values,
 * defaults applied, and words split where the command's name contains an expansion.
 */
export const expandVariables = (words: CommandWords, values: VariableValues): readonly CommandWords[] => {
  if (words.every((word) => literalText(word) !== undefined)) return [];
  const seen = new Set([JSON.stringify(words)]);
  return Array.from({ length: maxReadings }, (_, pick) =>
    words.flatMap((word, at) => splitFields(word, at === 0, (piece) => valueOf(piece, pick, values))),
  ).filter((reading) => {
    const text = JSON.stringify(reading);
    return reading.length > 0 && !seen.has(text) && seen.add(text);
  });
};

type UnknownPiece = Exclude<WordPiece, string>;

/** Splits one word into fields (word splitting). An unknown piece in a command's name may be just a blank. */
const splitFields = (
  word: PossibleWord,
  isName: boolean,
  value: (piece: UnknownPiece) => string | undefined,
): readonly PossibleWord[] => {
  const fields: WordPiece[][] = [[]];
  for (const piece of word) {
    const text = typeof piece === "string" ? piece : value(piece);
    const splits = typeof piece !== "string" && piece.splits === true;
    if (text === undefined && !(isName && splits)) fields.at(-1)?.push(piece);
    else if (splits) {
      const [first = "", ...rest] = (text ?? " ").split(/\s+/);
      fields.at(-1)?.push(first);
      fields.push(...rest.map((field) => [field]));
    } else fields.at(-1)?.push(text ?? "");
  }
  const full = fields.filter((field) => field.some((piece) => piece !== ""));
  const wasSplit = word.some((piece) => typeof piece !== "string" && piece.splits === true);
  return wasSplit || full.length > 0 ? full.map(joinPieces) : [[""]];
};

const valueOf = ({ variable, otherwise }: UnknownPiece, pick: number, values: VariableValues): string | undefined => {
  if (variable === "IFS") return " ";
  const known = variable === undefined ? [] : (values.get(/^[\d@*]$/.test(variable) ? "@" : variable) ?? []);
  const all = otherwise === undefined ? known : [otherwise, ...known];
  return all[pick % Math.max(1, all.length)];
};

const joinPieces = (field: readonly WordPiece[]): PossibleWord =>
  field.every((piece) => typeof piece === "string") ? [field.join("")] : field.filter((piece) => piece !== "");
