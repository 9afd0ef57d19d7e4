import type { Words } from "./command-inside.ts";
import { literalOf, type Piece, type PossibleWord } from "./command-word.ts";

/** The values variables may have, by name. */
export type Values = { readonly get: (name: string) => readonly string[] | undefined };

/** How many values of each variable are tried. */
const mostReadings = 4;

/**
 * The other words a command may turn out to have once a shell expands it: variables with the values they are given,
 * defaults taken, and words split where an expansion stands in the command's name.
 */
export const otherReadings = (words: Words, values: Values): readonly Words[] => {
  if (words.every((word) => literalOf(word) !== undefined)) return [];
  const seen = new Set([JSON.stringify(words)]);
  return Array.from({ length: mostReadings }, (_, pick) =>
    words.flatMap((word, at) => fieldsOf(word, at === 0, (piece) => valueOf(piece, pick, values))),
  ).filter((reading) => {
    const text = JSON.stringify(reading);
    return reading.length > 0 && !seen.has(text) && seen.add(text);
  });
};

type Expansion = Exclude<Piece, string>;

/** The fields one word is split into. What is unknown in a command's name may be nothing but a blank. */
const fieldsOf = (
  word: PossibleWord,
  isName: boolean,
  value: (piece: Expansion) => string | undefined,
): readonly PossibleWord[] => {
  const fields: Piece[][] = [[]];
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
  return wasSplit || full.length > 0 ? full.map(joined) : [[""]];
};

const valueOf = ({ variable, otherwise }: Expansion, pick: number, values: Values): string | undefined => {
  if (variable === "IFS") return " ";
  const known = variable === undefined ? [] : (values.get(/^[\d@*]$/.test(variable) ? "@" : variable) ?? []);
  const all = otherwise === undefined ? known : [otherwise, ...known];
  return all[pick % Math.max(1, all.length)];
};

const joined = (field: readonly Piece[]): PossibleWord =>
  field.every((piece) => typeof piece === "string") ? [field.join("")] : field.filter((piece) => piece !== "");
