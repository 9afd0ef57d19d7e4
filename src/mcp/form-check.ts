import { runInNewContext } from "node:vm";
import type { FieldChoice, FieldKind, FormField, TextFormat } from "./form.ts";

/** What a person answered to one field. */
export type FieldValue = string | number | boolean | readonly string[];

/** An answer as it is sent, nothing where the field is left out, or in words what is wrong with it. */
export type Checked =
  | { readonly type: "value"; readonly value: FieldValue }
  | { readonly type: "left-out" }
  | { readonly type: "wrong"; readonly says: string };

/** Judges what was typed into a field. Nothing typed stands for what the server would take, or leaves the field out. */
export const checkTyped = (field: FormField, typed: string): Checked => {
  const { kind } = field;
  const text = kind.type === "text" ? typed : typed.trim();
  if (text.trim() === "") return untouched(field);
  switch (kind.type) {
    case "text":
      return judged(text, wrongText(kind, text));
    case "number":
      return checkNumber(kind, text);
    case "switch": {
      if (/^(?:y|yes|true)$/i.test(text)) return value(true);
      return /^(?:n|no|false)$/i.test(text) ? value(false) : wrong("This must be yes or no.");
    }
    case "choice": {
      const found = choiceNamed(kind.of, text);
      return found === undefined ? wrong(`This must be a number from 1 to ${kind.of.length}.`) : value(found.value);
    }
    case "choices": {
      const found = text.split(/[\s,]+/).map((word) => choiceNamed(kind.of, word));
      return found.every((each) => each !== undefined)
        ? checkPicked(
            field,
            found.map((each) => each.value),
          )
        : wrong(`These must be numbers from 1 to ${kind.of.length}, with commas between them.`);
    }
  }
};

/** Judges what was picked for a field with several values. */
export const checkPicked = (field: FormField, picked: readonly string[]): Checked => {
  const { kind, isRequired } = field;
  if (kind.type !== "choices") return wrong("This takes one answer.");
  const chosen = kind.of.map((each) => each.value).filter((each) => picked.includes(each));
  const { least = 0, most = kind.of.length } = kind;
  if (chosen.length === 0 && !isRequired && kind.otherwise === undefined) return { type: "left-out" };
  if (chosen.length < least) return wrong(`At least ${least} must be chosen.`);
  return chosen.length > most ? wrong(`At most ${most} may be chosen.`) : value(chosen);
};

const value = (given: FieldValue): Checked => ({ type: "value", value: given });
const wrong = (says: string): Checked => ({ type: "wrong", says });
const judged = (given: FieldValue, says: string | undefined): Checked =>
  says === undefined ? value(given) : wrong(says);

const untouched = ({ kind, isRequired }: FormField): Checked => {
  if (kind.otherwise !== undefined) return value(kind.otherwise);
  return isRequired ? wrong("This is required.") : { type: "left-out" };
};

/** By its place in the list, or by its own value. */
const choiceNamed = (of: readonly FieldChoice[], text: string): FieldChoice | undefined =>
  (/^\d+$/.test(text) ? of[Number(text) - 1] : undefined) ?? of.find((each) => each.value === text);

const checkNumber = (
  { isWhole, least, most }: Extract<FieldKind, { readonly type: "number" }>,
  text: string,
): Checked => {
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) return wrong("This must be a number.");
  if (isWhole && !Number.isInteger(number)) return wrong("This must be a whole number.");
  if (least !== undefined && number < least) return wrong(`This must be at least ${least}.`);
  return most !== undefined && number > most ? wrong(`This must be at most ${most}.`) : value(number);
};

const wrongText = (
  { format, least, most, pattern }: Extract<FieldKind, { readonly type: "text" }>,
  text: string,
): string | undefined => {
  const length = Array.from(text).length;
  if (least !== undefined && length < least) return `This must have at least ${characters(least)}; it has ${length}.`;
  if (most !== undefined && length > most) return `This must have at most ${characters(most)}; it has ${length}.`;
  if (format !== undefined && !isOfFormat(format, text)) return formatWords[format];
  return pattern !== undefined && !fits(pattern, text)
    ? `This does not fit the pattern the server gave: ${pattern.slice(0, 200)}`
    : undefined;
};

const characters = (count: number): string => (count === 1 ? "1 character" : `${count} characters`);

const formatWords: Readonly<Record<TextFormat, string>> = {
  email: "This must be an email address, such as someone@example.com.",
  uri: "This must be an address, such as https://example.com/page.",
  date: "This must be a date, such as 2026-03-28.",
  "date-time": "This must be a date and time, such as 2026-03-28T14:30:00Z.",
};

const isOfFormat = (format: TextFormat, text: string): boolean => {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return URL.canParse(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text);
    case "date-time":
      return (
        /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i.test(text) &&
        isDay(text.slice(0, 10)) &&
        !Number.isNaN(Date.parse(text))
      );
  }
};

/** The 30th of February is none. */
const isDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

/** How long a pattern of a stranger may think, in milliseconds. */
const patience = 50;

/** A pattern that is none, or that takes too long, says nothing against a text: the server can judge by itself. */
const fits = (pattern: string, text: string): boolean => {
  try {
    return runInNewContext("new RegExp(pattern, 'u').test(text)", { pattern, text }, { timeout: patience }) !== false;
  } catch {
    return true;
  }
};
