import { checkChoices, checkText, type FieldCheck } from "../../mcp/requests/form-check.ts";
import type { FormContent } from "../../mcp/requests/handlers.ts";
import type { FormField } from "../../mcp/requests/form.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { graphemesOf } from "../text/width.ts";

/** A form being filled in, field by field. */
export type FormState = {
  readonly fields: readonly FormField[];
  readonly at: number;
  /** The entries, field by field. */
  readonly entries: readonly FieldEntry[];
  /** The problem of the current field; empty without one. */
  readonly problem: string;
};

/** The entry of a field: text, or for lists the focus and the selection. */
export type FieldEntry = { readonly text: string; readonly focus: number; readonly selected: readonly string[] };

/** Creates a form at its first field. */
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

/** The result of a key in a form. */
export type FormKeyResult =
  | { readonly type: "open"; readonly form: FormState }
  | { readonly type: "filled"; readonly form: FormState }
  | { readonly type: "cancelled" };

/** Handles a key. Pasted text is entered as text. */
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

/** The filled-in content to send. */
export const contentOf = ({ fields, entries }: FormState): FormContent =>
  Object.fromEntries(
    fields.flatMap((field, at) => {
      const entry = entries[at];
      const answer = entry && answerTo(field, entry);
      return answer?.type === "value" ? [[field.name, answer.value]] : [];
    }),
  );

/** Returns to the last field. */
export const reopenForm = (form: FormState): FormState => ({
  ...form,
  at: Math.max(0, form.fields.length - 1),
  problem: "",
});

/** An option of a field; leaving it out has no value. */
export type FieldOption = { readonly label: string; readonly typed: string };

/** The options of a field; undefined for text fields. */
export const optionsOf = ({ kind, isRequired }: FormField): readonly FieldOption[] | undefined => {
  const nothing = isRequired || kind.defaultValue !== undefined ? [] : [{ label: "(skip)", typed: "" }];
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
  const { defaultValue } = field.kind;
  const typed = defaultValue === true ? "yes" : defaultValue === false ? "no" : defaultValue;
  return Math.max(0, optionsOf(field)?.findIndex((option) => option.typed === typed) ?? 0);
};

const answerTo = (field: FormField, { text, focus, selected }: FieldEntry): FieldCheck => {
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
      return checkChoices(field, selected);
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
  const { selected } = entry;
  return {
    ...entry,
    selected: selected.includes(value) ? selected.filter((each) => each !== value) : [...selected, value],
  };
};
