import { checkChoices, checkText, type FieldCheck } from "../../mcp/requests/form-check.ts";
import type { FormContent } from "../../mcp/requests/handlers.ts";
import type { FormField } from "../../mcp/requests/form.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { graphemesOf } from "../text/width.ts";

/** A form being filled in, one field after the other. */
export type FormState = {
  readonly fields: readonly FormField[];
  readonly at: number;
  /** What was entered, field by field. */
  readonly entries: readonly FieldEntry[];
  /** What is wrong with the field in sight; empty where nothing is. */
  readonly problem: string;
};

/** What was entered into a field: letters, or for lists what has the focus and what is marked. */
export type FieldEntry = { readonly text: string; readonly focus: number; readonly selected: readonly string[] };

/** A form with the first field in sight. */
export const createForm = (fields: readonly FormField[]): FormState => ({
  fields,
  at: 0,
  entries: fields.map((field) => ({
    text: "",
    focus: firstFocus(field),
    selected: field.kind.type === "choices" ? (field.kind.defaultValue ?? []) : [],
  })),
  problem: "",
});

/** What became of a form after a key. */
export type FormKeyResult =
  | { readonly type: "open"; readonly form: FormState }
  | { readonly type: "filled"; readonly form: FormState }
  | { readonly type: "cancelled" };

/** The form after a key. Whatever is pasted is letters. */
export const pressForm = (form: FormState, event: KeyEvent): FormKeyResult => {
  const field = form.fields[form.at];
  const entry = form.entries[form.at];
  if (field === undefined || entry === undefined) return { type: "filled", form };
  if (event.type === "key")
    switch (event.chord) {
      case "escape":
        return { type: "cancelled" };
      case "shift+tab":
        return { type: "open", form: { ...form, at: Math.max(0, form.at - 1), problem: "" } };
      case "enter":
      case "tab":
        return advance(form, answerTo(field, entry));
    }
  const next = editEntry(field, entry, event);
  return next === entry
    ? { type: "open", form }
    : { type: "open", form: { ...form, entries: form.entries.with(form.at, next), problem: "" } };
};

/** What was filled in, as it is sent. */
export const contentOf = ({ fields, entries }: FormState): FormContent =>
  Object.fromEntries(
    fields.flatMap((field, at) => {
      const entry = entries[at];
      const answer = entry && answerTo(field, entry);
      return answer?.type === "value" ? [[field.name, answer.value]] : [];
    }),
  );

/** The last field once more. */
export const reopenForm = (form: FormState): FormState => ({
  ...form,
  at: Math.max(0, form.fields.length - 1),
  problem: "",
});

/** A line to choose in a field; what is left out has no value. */
export type FieldOption = { readonly label: string; readonly typed: string };

/** What can be chosen in a field; undefined where letters are typed. */
export const optionsOf = ({ kind, isRequired }: FormField): readonly FieldOption[] | undefined => {
  const nothing = isRequired || kind.defaultValue !== undefined ? [] : [{ label: "(leave it out)", typed: "" }];
  switch (kind.type) {
    case "text":
    case "number":
      return undefined;
    case "switch":
      return [...nothing, { label: "No", typed: "no" }, { label: "Yes", typed: "yes" }];
    case "choice":
      return [...nothing, ...kind.choices.map(({ value, title }) => ({ label: title, typed: value }))];
    case "choices":
      return kind.choices.map(({ value, title }) => ({ label: title, typed: value }));
  }
};

const firstFocus = (field: FormField): number => {
  const { defaultValue: otherwise } = field.kind;
  const typed = otherwise === true ? "yes" : otherwise === false ? "no" : otherwise;
  return Math.max(0, optionsOf(field)?.findIndex((option) => option.typed === typed) ?? 0);
};

const answerTo = (field: FormField, { text, focus, selected: picked }: FieldEntry): FieldCheck => {
  const { kind } = field;
  switch (kind.type) {
    case "text":
    case "number":
      return checkText(field, text);
    case "switch":
      return checkText(field, optionsOf(field)?.[focus]?.typed ?? "");
    case "choice": {
      const { typed = "" } = optionsOf(field)?.[focus] ?? {};
      const isValue = kind.choices.some(({ value }) => value === typed);
      return isValue ? { type: "value", value: typed } : { type: "left-out" };
    }
    case "choices":
      return checkChoices(field, picked);
  }
};

const advance = (form: FormState, answer: FieldCheck): FormKeyResult => {
  if (answer.type === "wrong") return { type: "open", form: { ...form, problem: answer.says } };
  const isLast = form.at === form.fields.length - 1;
  return isLast
    ? { type: "filled", form: { ...form, problem: "" } }
    : { type: "open", form: { ...form, at: form.at + 1, problem: "" } };
};

const editEntry = (field: FormField, entry: FieldEntry, event: KeyEvent): FieldEntry => {
  const options = optionsOf(field);
  if (options !== undefined) return moveFocus(field, entry, options, event);
  const typed = (text: string): FieldEntry => ({ ...entry, text });
  if (event.type === "text" || event.type === "paste") return typed(entry.text + event.text.replaceAll("\n", " "));
  if (event.type !== "key") return entry;
  switch (event.chord) {
    case "backspace":
      return typed(graphemesOf(entry.text).slice(0, -1).join(""));
    case "ctrl+u":
      return typed("");
  }
  return entry;
};

const moveFocus = (
  field: FormField,
  entry: FieldEntry,
  options: readonly FieldOption[],
  event: KeyEvent,
): FieldEntry => {
  const go = (to: number): FieldEntry => ({ ...entry, focus: (to + options.length) % options.length });
  if (event.type === "text") return event.text === " " ? toggleOption(field, entry, options) : entry;
  if (event.type !== "key") return entry;
  switch (event.chord) {
    case "up":
      return go(entry.focus - 1);
    case "down":
      return go(entry.focus + 1);
    case "home":
      return go(0);
    case "end":
      return go(options.length - 1);
  }
  return entry;
};

const toggleOption = ({ kind }: FormField, entry: FieldEntry, options: readonly FieldOption[]): FieldEntry => {
  const value = options[entry.focus]?.typed;
  if (kind.type !== "choices" || value === undefined) return entry;
  const { selected: picked } = entry;
  return {
    ...entry,
    selected: picked.includes(value) ? picked.filter((each) => each !== value) : [...picked, value],
  };
};
