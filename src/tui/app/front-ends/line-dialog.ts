import { checkText } from "../../../mcp/requests/form-check.ts";
import type { FormContent } from "../../../mcp/requests/handlers.ts";
import { readForm, type FormField } from "../../../mcp/requests/form.ts";
import { line } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { viewSubject, type ApprovalPrompt } from "../../views/approval.ts";
import { fieldHint } from "../../views/form-view.ts";
import type { ServerAnswer } from "../../views/server-question.ts";
import type { NumberedQuestion } from "../../views/user-question.ts";
import { askerName, initialPrompt, reviewPrompt, type ServerRequest } from "../../views/server-question-text.ts";

/** A server question as plain lines: the lines to print, and the next step for a typed line. */
export type LineDialog = {
  readonly lines: readonly StyledLine[];
  readonly submit: (typed: string) => LineDialog | ServerAnswer;
};

/** Creates the line dialog of a server question. */
export const createLineDialog = (
  request: ServerRequest,
  context: { readonly model: string; readonly waiting: number },
  width: number,
): LineDialog => {
  if (request.type === "question") return questionDialog(request);
  const opening = initialPrompt(request, context);
  const fields = request.type === "form" ? readForm(request.schema) : [];
  const isSecret = typeof fields !== "string" && fields.some(({ isSecret }) => isSecret);
  const choices = isSecret ? [] : opening.choices;
  const reasons = isSecret ? [...opening.reasons, echoWarning] : opening.reasons;
  return choiceDialog({ ...opening, reasons, choices }, width, () => {
    if (request.type !== "form" || typeof fields === "string") return { type: "yes" };
    return fieldDialog({ request, fields, width }, []);
  });
};

/** A question of the model: numbers choose options, other text is an answer of the user's own. */
const questionDialog = ({ question, number, count }: NumberedQuestion): LineDialog => {
  const { options, allowsSeveral } = question;
  const help = line(
    `${options.length === 0 ? "Type your answer." : allowsSeveral ? "Type numbers, separated by commas, or your own answer." : "Type a number, or your own answer."} Type /no if you do not want to answer.`,
  );
  const dialog: LineDialog = {
    lines: [
      line(`The model asks${count === 1 ? "" : ` ${number} of ${count}`}: ${question.question}`),
      ...options.map(({ label, description }, at) =>
        line(`${at + 1}. ${label}${description === undefined ? "" : `: ${description}`}`),
      ),
      help,
    ],
    submit: (typed) => {
      const text = typed.trim();
      if (text === "/no") return { type: "no" };
      const numbers = /^\d+(?:\s*,\s*\d+)*$/.test(text) ? text.split(",").map((each) => Number(each) - 1) : [];
      const chosen = numbers.flatMap((at) => options[at]?.label ?? []);
      const isChoice = chosen.length > 0 && chosen.length === numbers.length && (allowsSeveral || chosen.length === 1);
      if (isChoice) return { type: "yes", content: { answer: chosen } };
      const isMistyped = text === "" || (options.length > 0 && numbers.length > 0);
      return isMistyped ? { ...dialog, lines: [help] } : { type: "yes", content: { answer: [text] } };
    },
  };
  return dialog;
};

/** A terminal in line mode echoes what is typed and keeps it in its scrollback. */
const echoWarning = "Cannot be answered here: typed text stays on the screen.";

/** One letter answers; anything else repeats the choices. */
const choiceDialog = (
  { title, subject, reasons, choices, noLabel = "No" }: ApprovalPrompt,
  width: number,
  chosen: (id: string) => LineDialog | ServerAnswer,
): LineDialog => {
  const offered = line(
    `n: ${noLabel}. ${choices.map(({ key, label }) => `${key}: ${label}. `).join("")}c: Cancel. Type a letter and Enter.`,
  );
  const dialog: LineDialog = {
    lines: [
      line(`${title}.`),
      ...viewSubject(subject, width),
      ...reasons.map((each) => line(`Warning: ${each}`)),
      offered,
    ],
    submit: (typed) => {
      const letter = typed.trim().toLowerCase();
      const choice = choices.find(({ key }) => key === letter);
      if (choice !== undefined) return chosen(choice.id);
      if (/^no?$/.test(letter)) return { type: "no" };
      return /^c(?:ancel)?$/.test(letter) ? { type: "cancel" } : { ...dialog, lines: [offered] };
    },
  };
  return dialog;
};

type FormDialog = { readonly request: ServerRequest; readonly fields: readonly FormField[]; readonly width: number };

/** The next field, or the review once all are filled in. */
const fieldDialog = (form: FormDialog, answers: readonly string[]): LineDialog | ServerAnswer => {
  const { request, fields, width } = form;
  const field = fields[answers.length];
  if (fields.length === 0) return { type: "yes", content: {} };
  if (field === undefined) return reviewDialog(form, answers);
  const dialog: LineDialog = {
    lines: [
      line(
        `${askerName(request)} asks ${answers.length + 1} of ${fields.length}: ${field.title}${field.isRequired ? " (required)" : ""}`,
      ),
      ...(field.description === "" ? [] : viewSubject({ type: "text", text: field.description }, width)),
      ...listOptions(field),
      line(`${fieldHint(field)} Type /no to decline, /cancel to cancel, /back to go back.`),
    ],
    submit: (typed) => {
      switch (typed.trim()) {
        case "/no":
          return { type: "no" };
        case "/cancel":
          return { type: "cancel" };
        case "/back":
          return fieldDialog(form, answers.slice(0, -1));
      }
      const checked = checkText(field, typed);
      return checked.type === "wrong"
        ? { ...dialog, lines: [line(checked.says)] }
        : fieldDialog(form, [...answers, typed]);
    },
  };
  return dialog;
};

const listOptions = ({ kind }: FormField): readonly StyledLine[] =>
  kind.type === "choice" || kind.type === "choices"
    ? [
        ...kind.choices.map(({ title }, at) => line(`${at + 1}. ${title}`)),
        line(kind.type === "choice" ? "Type a number." : "Type numbers, separated by commas."),
      ]
    : [];

const reviewDialog = (form: FormDialog, answers: readonly string[]): LineDialog => {
  const { request, fields, width } = form;
  const content: FormContent = Object.fromEntries(
    fields.flatMap((field, at) => {
      const checked = checkText(field, answers[at] ?? "");
      return checked.type === "value" ? [[field.name, checked.value]] : [];
    }),
  );
  return choiceDialog(reviewPrompt(request, { fields, content }, 0), width, (id) =>
    id === "edit" ? fieldDialog(form, []) : { type: "yes", content },
  );
};
