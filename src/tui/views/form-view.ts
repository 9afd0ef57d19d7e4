import type { FieldKind, FormField, FormTextFormat } from "../../mcp/requests/form.ts";
import { truncate, span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { textWidth, graphemesOf } from "../text/width.ts";
import { wrap } from "../text/wrap.ts";
import { optionsOf, type FieldEntry, type FieldOption, type FormState } from "./form.ts";

/** Shows a form: the current field, the expected value, the entry, and the cursor. */
export const viewForm = (
  form: FormState,
  { who, width, height }: { readonly who: string; readonly width: number; readonly height: number },
): {
  readonly lines: readonly StyledLine[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
} => {
  const field = form.fields[form.at];
  const entry = form.entries[form.at];
  if (field === undefined || entry === undefined) return { lines: [], cursor: undefined };
  const options = optionsOf(field);
  const above = [
    ...wrap([span(`${who} asks`, { bold: true, tone: "warning" })], { width }),
    ...wrap(headOf(field, `${form.at + 1} of ${form.fields.length}`), { width }),
    ...shortened(field.description === "" ? [] : wrap([span(field.description)], { width }), Math.max(1, height - 10)),
    ...wrap([span(fieldHint(field), { tone: "muted" })], { width }),
  ];
  const below = [
    ...(form.problem === "" ? [] : wrap([span(`! ${form.problem}`, { tone: "error" })], { width })),
    ...wrap([span(options === undefined ? typingHelp : helpFor(field), { tone: "muted" })], { width }),
  ];
  const middle =
    options === undefined
      ? viewTyped(field, entry, width)
      : viewOptions(entry, options, {
          width,
          room: Math.max(1, height - above.length - below.length),
          isMany: field.kind.type === "choices",
        });
  const typed = middle.at(-1) ?? [];
  return {
    lines: [...above, ...middle, ...below],
    cursor:
      options === undefined
        ? {
            row: above.length + middle.length - 1,
            column: Math.min(width - 1, textWidth(typed.map(({ text }) => text).join(""))),
          }
        : undefined,
  };
};

const typingHelp = "Enter: next · Shift-Tab: back · Esc: cancel";

const helpFor = ({ kind }: FormField): string =>
  kind.type === "choices" ? `Up, Down · Space: toggle · ${typingHelp}` : `Up, Down · ${typingHelp}`;

const headOf = ({ title, isRequired }: FormField, place: string): StyledLine => [
  span(`${place}  `, { tone: "muted" }),
  span(title, { bold: true }),
  span(isRequired ? "  (required)" : "", { tone: "muted" }),
];

const shortened = (lines: readonly StyledLine[], most: number): readonly StyledLine[] =>
  lines.length <= most ? lines : [...lines.slice(0, most - 1), [span("…", { tone: "muted" })]];

const viewTyped = ({ isSecret }: FormField, { text }: FieldEntry, width: number): readonly StyledLine[] =>
  wrap([span(isSecret ? maskSecret(text) : text)], {
    width,
    breakAt: "characters",
    first: [span("> ", { tone: "accent", bold: true })],
    rest: [span("  ")],
  });

/** Masks a secret: one dot per character. */
export const maskSecret = (text: string): string => "•".repeat(graphemesOf(text).length);

const viewOptions = (
  { focus, selected }: FieldEntry,
  options: readonly FieldOption[],
  { width, room, isMany }: { readonly width: number; readonly room: number; readonly isMany: boolean },
): readonly StyledLine[] => {
  const top = Math.max(0, Math.min(focus - (room >> 1), options.length - room));
  return options.slice(top, top + room).map(({ label, typed }, at) => {
    const isFocused = top + at === focus;
    const mark = isMany ? (selected.includes(typed) ? "[x] " : "[ ] ") : "";
    const style = isFocused ? ({ background: "focus", bold: true } as const) : {};
    return truncate([span(isFocused ? "› " : "  ", style), span(`${mark}${label}`, style)], width);
  });
};

/** Describes the expected value of a field, and the effect of an empty entry. */
export const fieldHint = (field: FormField): string => `${expectedValue(field.kind)}${enterAloneHint(field)}`;

const expectedValue = (kind: FieldKind): string => {
  switch (kind.type) {
    case "text":
      return `${kind.format === undefined ? "A text" : formatWords[kind.format]}${lengths(kind)}.`;
    case "number":
      return `A${kind.isWhole ? " whole" : ""} number${between(kind)}.`;
    case "switch":
      return "Yes or no.";
    case "choice":
      return "One of these.";
    case "choices":
      return `${counts(kind)} of these.`;
  }
};

const enterAloneHint = ({ kind, isRequired }: FormField): string => {
  if (kind.type !== "text" && kind.type !== "number") return "";
  if (kind.defaultValue !== undefined) return ` Default: ${JSON.stringify(kind.defaultValue)}.`;
  return isRequired ? "" : " Optional.";
};

const formatWords: Readonly<Record<FormTextFormat, string>> = {
  email: "An email address",
  uri: "A URL such as https://example.com",
  date: "A date such as 2026-03-28",
  "date-time": "A date and time such as 2026-03-28T14:30:00Z",
};

type ValueBounds = { readonly min?: number; readonly max?: number };

const lengths = ({ min, max }: ValueBounds): string => {
  if (min === undefined && max === undefined) return "";
  return ` of ${range({ min, max })} characters`;
};

const between = ({ min, max }: ValueBounds): string =>
  min === undefined && max === undefined ? "" : `, ${range({ min, max })}`;

const counts = ({ min, max }: ValueBounds): string => {
  if (min === undefined && max === undefined) return "Any";
  const words = range({ min, max });
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

const range = ({ min, max }: { readonly min: number | undefined; readonly max: number | undefined }): string => {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
};
