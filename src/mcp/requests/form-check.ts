import { cpuUsage } from "node:process";
import { runInNewContext } from "node:vm";
import { isObject } from "../../conversation/json.ts";
import type { FieldChoice, FieldKind, FormField, FormTextFormat } from "./form.ts";

/** The user's answer to one field. */
export type FieldValue = string | number | boolean | readonly string[];

/** The value to send, nothing for a field left out, or an error message. */
export type FieldCheck =
  | { readonly type: "value"; readonly value: FieldValue }
  | { readonly type: "left-out" }
  | { readonly type: "wrong"; readonly says: string };

/** Checks the text typed into a field. An empty text means the server's default, or leaves the field out. */
export const checkText = (field: FormField, typed: string): FieldCheck => {
  const { kind } = field;
  const text = kind.type === "text" ? typed : typed.trim();
  if (text.trim() === "") return valueWhenEmpty(field);
  switch (kind.type) {
    case "text":
      return valueOrError(text, describeTextError(kind, text));
    case "number":
      return checkNumber(kind, text);
    case "switch": {
      if (/^(?:y|yes|true)$/i.test(text)) return validValue(true);
      return /^(?:n|no|false)$/i.test(text) ? validValue(false) : invalidValue("This must be yes or no.");
    }
    case "choice": {
      const found = findChoice(kind.choices, text);
      return found === undefined
        ? invalidValue(`This must be a number from 1 to ${kind.choices.length}.`)
        : validValue(found.value);
    }
    case "choices": {
      const found = text.split(/[\s,]+/).map((word) => findChoice(kind.choices, word));
      return found.every((each) => each !== undefined)
        ? checkChoices(
            field,
            found.map((each) => each.value),
          )
        : invalidValue(`These must be numbers from 1 to ${kind.choices.length}, with commas between them.`);
    }
  }
};

/** Checks the choices made for a field with several values. */
export const checkChoices = (field: FormField, picked: readonly string[]): FieldCheck => {
  const { kind, isRequired } = field;
  if (kind.type !== "choices") return invalidValue("This takes one answer.");
  const chosen = kind.choices.map((each) => each.value).filter((each) => picked.includes(each));
  const { min = 0, max = kind.choices.length } = kind;
  if (chosen.length === 0 && !isRequired && kind.defaultValue === undefined) return { type: "left-out" };
  if (chosen.length < min) return invalidValue(`At least ${min} must be chosen.`);
  return chosen.length > max ? invalidValue(`At most ${max} may be chosen.`) : validValue(chosen);
};

const validValue = (given: FieldValue): FieldCheck => ({ type: "value", value: given });
const invalidValue = (says: string): FieldCheck => ({ type: "wrong", says });
const valueOrError = (given: FieldValue, says: string | undefined): FieldCheck =>
  says === undefined ? validValue(given) : invalidValue(says);

const valueWhenEmpty = ({ kind, isRequired }: FormField): FieldCheck => {
  if (kind.defaultValue !== undefined) return validValue(kind.defaultValue);
  return isRequired ? invalidValue("This is required.") : { type: "left-out" };
};

/** By its number in the list, or by its own value. */
const findChoice = (of: readonly FieldChoice[], text: string): FieldChoice | undefined =>
  (/^\d+$/.test(text) ? of[Number(text) - 1] : undefined) ?? of.find((each) => each.value === text);

const checkNumber = (
  { isWhole, min, max }: Extract<FieldKind, { readonly type: "number" }>,
  text: string,
): FieldCheck => {
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) return invalidValue("This must be a number.");
  if (isWhole && !Number.isInteger(number)) return invalidValue("This must be a whole number.");
  if (min !== undefined && number < min) return invalidValue(`This must be at least ${min}.`);
  return max !== undefined && number > max ? invalidValue(`This must be at most ${max}.`) : validValue(number);
};

const describeTextError = (
  { format, min, max, pattern }: Extract<FieldKind, { readonly type: "text" }>,
  text: string,
): string | undefined => {
  const length = Array.from(text).length;
  if (min !== undefined && length < min) return `This must have at least ${characters(min)}; it has ${length}.`;
  if (max !== undefined && length > max) return `This must have at most ${characters(max)}; it has ${length}.`;
  if (format !== undefined && !isOfFormat(format, text)) return formatErrors[format];
  return pattern !== undefined && !matchesPattern(pattern, text)
    ? `This does not match the server's pattern: ${pattern.slice(0, 200)}`
    : undefined;
};

const characters = (count: number): string => (count === 1 ? "1 character" : `${count} characters`);

const formatErrors: Readonly<Record<FormTextFormat, string>> = {
  email: "This must be an email address, such as someone@example.com.",
  uri: "This must be a URL, such as https://example.com/page.",
  date: "This must be a date, such as 2026-03-28.",
  "date-time": "This must be a date and time, such as 2026-03-28T14:30:00Z.",
};

const isOfFormat = (format: FormTextFormat, text: string): boolean => {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return URL.canParse(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && isExistingDay(text);
    case "date-time":
      return (
        /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i.test(text) &&
        isExistingDay(text.slice(0, 10)) &&
        !Number.isNaN(Date.parse(text))
      );
  }
};

/** Rejects dates such as February 30. */
const isExistingDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

/** Milliseconds of CPU time a foreign regular expression may take. */
const patternTimeout = 50;

/** An invalid or slow pattern rejects nothing: the server can validate by itself. A busy machine makes no pattern slow. */
const matchesPattern = (pattern: string, text: string): boolean => {
  const start = cpuUsage();
  do {
    try {
      const options = { timeout: patternTimeout };
      return runInNewContext("new RegExp(pattern, 'u').test(text)", { pattern, text }, options) !== false;
    } catch (error) {
      if (!isObject(error) || error["code"] !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return true;
    }
  } while (cpuTime(start) < patternTimeout);
  return true;
};

/** Milliseconds of CPU time since then. */
const cpuTime = (start: NodeJS.CpuUsage): number => {
  const { user, system } = cpuUsage(start);
  return (user + system) / 1000;
};
