import { checkTyped } from "../../mcp/form-check.ts";
import type { FormContent } from "../../mcp/asking.ts";
import { readForm, type FormField } from "../../mcp/form.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { viewSubject, type Approval } from "../views/approval.ts";
import { hintOf } from "../views/form-view.ts";
import type { ServerAnswer } from "../views/server-question.ts";
import { askerOf, openingOf, reviewOf, type ServerAsks } from "../views/server-words.ts";

/** A server's question in lines: what is said now, and what a typed line leads to. */
export type Dialogue = {
  readonly says: readonly Line[];
  readonly take: (typed: string) => Dialogue | ServerAnswer;
};

/** Puts a server's question in plain lines, one step after the other. */
export const dialogueFor = (
  asks: ServerAsks,
  told: { readonly model: string; readonly waiting: number },
  width: number,
): Dialogue => {
  const opening = openingOf(asks, told);
  const fields = asks.type === "form" ? readForm(asks.schema) : [];
  const isSecret = typeof fields !== "string" && fields.some(({ seemsSecret }) => seemsSecret);
  const choices = isSecret ? [] : opening.choices;
  const reasons = isSecret ? [...opening.reasons, unseen] : opening.reasons;
  return choosing({ ...opening, reasons, choices }, width, () => {
    if (asks.type !== "form" || typeof fields === "string") return { type: "yes" };
    return filling({ asks, fields, width }, []);
  });
};

/** A terminal shows what is typed into it, and keeps it. */
const unseen = "It cannot be answered here: whatever is typed stays on the screen.";

/** One letter answers. Anything else asks again. */
const choosing = (
  { who, what, reasons, choices, no = "No" }: Approval,
  width: number,
  chosen: (id: string) => Dialogue | ServerAnswer,
): Dialogue => {
  const offered = line(
    `n: ${no}. ${choices.map(({ key, label }) => `${key}: ${label}. `).join("")}c: Cancel. Type a letter and Enter.`,
  );
  const dialogue: Dialogue = {
    says: [
      line(`${who} asks.`),
      ...viewSubject(what, width),
      ...reasons.map((each) => line(`Beware: ${each}`)),
      offered,
    ],
    take: (typed) => {
      const letter = typed.trim().toLowerCase();
      const choice = choices.find(({ key }) => key === letter);
      if (choice !== undefined) return chosen(choice.id);
      if (/^no?$/.test(letter)) return { type: "no" };
      return /^c(?:ancel)?$/.test(letter) ? { type: "cancel" } : { ...dialogue, says: [offered] };
    },
  };
  return dialogue;
};

type Filling = { readonly asks: ServerAsks; readonly fields: readonly FormField[]; readonly width: number };

/** The next field, or once all are answered what would be sent. */
const filling = (form: Filling, answers: readonly string[]): Dialogue | ServerAnswer => {
  const { asks, fields, width } = form;
  const field = fields[answers.length];
  if (fields.length === 0) return { type: "yes", content: {} };
  if (field === undefined) return reviewing(form, answers);
  const dialogue: Dialogue = {
    says: [
      line(
        `${askerOf(asks)} asks ${answers.length + 1} of ${fields.length}: ${field.title}${field.isRequired ? " (required)" : ""}`,
      ),
      ...(field.about === "" ? [] : viewSubject({ type: "text", text: field.about }, width)),
      ...listed(field),
      line(`${hintOf(field)} Type /no to decline, /cancel to cancel, /back to go back.`),
    ],
    take: (typed) => {
      switch (typed.trim()) {
        case "/no":
          return { type: "no" };
        case "/cancel":
          return { type: "cancel" };
        case "/back":
          return filling(form, answers.slice(0, -1));
      }
      const checked = checkTyped(field, typed);
      return checked.type === "wrong"
        ? { ...dialogue, says: [line(checked.says)] }
        : filling(form, [...answers, typed]);
    },
  };
  return dialogue;
};

const listed = ({ kind }: FormField): readonly Line[] =>
  kind.type === "choice" || kind.type === "choices"
    ? [
        ...kind.of.map(({ title }, at) => line(`${at + 1}. ${title}`)),
        line(kind.type === "choice" ? "Type a number." : "Type numbers, with commas between them."),
      ]
    : [];

const reviewing = (form: Filling, answers: readonly string[]): Dialogue => {
  const { asks, fields, width } = form;
  const content: FormContent = Object.fromEntries(
    fields.flatMap((field, at) => {
      const checked = checkTyped(field, answers[at] ?? "");
      return checked.type === "value" ? [[field.name, checked.value]] : [];
    }),
  );
  return choosing(reviewOf(asks, { fields, content }, 0), width, (id) =>
    id === "edit" ? filling(form, []) : { type: "yes", content },
  );
};
