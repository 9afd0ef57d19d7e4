import type { FormContent } from "../../mcp/requests/handlers.ts";
import { readForm } from "../../mcp/requests/form.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { createApprovalBox, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "./approval.ts";
import { contentOf, createForm, pressForm, reopenForm, type FormState } from "./form.ts";
import { viewForm } from "./form-view.ts";
import { createUserQuestionBox, pressUserQuestion, viewUserQuestion, type UserQuestionBox } from "./user-question.ts";
import { askerName, initialPrompt, reviewPrompt, type ServerRequest } from "./server-question-text.ts";

/** A server question on the screen: first the whole, then field by field, then a review of the answer. */
export type ServerQuestionBox = { readonly request: ServerRequest; readonly stage: ServerQuestionStage };

type ServerQuestionStage =
  | { readonly type: "prompt"; readonly box: ApprovalBox }
  | { readonly type: "question"; readonly box: UserQuestionBox }
  | { readonly type: "form"; readonly form: FormState; readonly waiting: number }
  | { readonly type: "review"; readonly form: FormState; readonly box: ApprovalBox };

/** The user's answer to a server. */
export type ServerAnswer =
  | { readonly type: "yes"; readonly content?: FormContent }
  | { readonly type: "no" }
  | { readonly type: "cancel" };

/** The result of a key; `stopped` if the user cancels all running work. */
export type ServerKeyResult =
  | { readonly type: "open"; readonly box: ServerQuestionBox }
  | { readonly type: "answered"; readonly answer: ServerAnswer }
  | { readonly type: "stopped" };

/** Creates a box with "no" focused. */
export const createServerQuestionBox = (
  request: ServerRequest,
  context: { readonly model: string; readonly waiting: number },
): ServerQuestionBox => ({
  request,
  stage:
    request.type === "question"
      ? { type: "question", box: createUserQuestionBox(request) }
      : { type: "prompt", box: createApprovalBox(initialPrompt(request, context)) },
});

/** Handles a key. */
export const pressServerQuestion = (box: ServerQuestionBox, event: KeyEvent): ServerKeyResult => {
  if (event.type === "key" && event.chord === "ctrl+c") return { type: "stopped" };
  const { request, stage } = box;
  const open = (next: ServerQuestionStage): ServerKeyResult => ({ type: "open", box: { request, stage: next } });
  if (stage.type === "question") {
    const pressed = pressUserQuestion(stage.box, event);
    if (pressed.type === "cancelled") return cancelled;
    if (pressed.type === "open") return open({ ...stage, box: pressed.box });
    return { type: "answered", answer: { type: "yes", content: { answer: pressed.answer } } };
  }
  if (stage.type === "form") {
    const pressed = pressForm(stage.form, event);
    if (pressed.type === "cancelled") return cancelled;
    if (pressed.type === "open") return open({ ...stage, form: pressed.form });
    const { form } = pressed;
    return open({
      type: "review",
      form,
      box: createApprovalBox(reviewPrompt(request, { fields: form.fields, content: contentOf(form) }, stage.waiting)),
    });
  }
  const pressed = pressApproval(stage.box, event);
  switch (pressed.type) {
    case "open":
      return open({ ...stage, box: pressed.box });
    case "cancelled":
      return cancelled;
    case "refused":
      return { type: "answered", answer: { type: "no" } };
    case "chosen":
      return chosen(box, pressed.id);
  }
};

const cancelled: ServerKeyResult = { type: "answered", answer: { type: "cancel" } };

const chosen = ({ request, stage }: ServerQuestionBox, id: string): ServerKeyResult => {
  if (stage.type === "review")
    return id === "edit"
      ? {
          type: "open",
          box: {
            request,
            stage: { type: "form", form: reopenForm(stage.form), waiting: stage.box.approval.waiting },
          },
        }
      : { type: "answered", answer: { type: "yes", content: contentOf(stage.form) } };
  if (request.type !== "form") return { type: "answered", answer: { type: "yes" } };
  const fields = readForm(request.schema);
  if (typeof fields === "string") return { type: "answered", answer: { type: "no" } };
  if (fields.length === 0) return { type: "answered", answer: { type: "yes", content: {} } };
  const waiting = stage.type === "prompt" ? stage.box.approval.waiting : 0;
  return { type: "open", box: { request, stage: { type: "form", form: createForm(fields), waiting } } };
};

/** Updates the number of questions waiting behind this one. */
export const withWaiting = ({ request, stage }: ServerQuestionBox, waiting: number): ServerQuestionBox => ({
  request,
  stage:
    stage.type === "question"
      ? stage
      : stage.type === "form"
        ? { ...stage, waiting }
        : { ...stage, box: { ...stage.box, approval: { ...stage.box.approval, waiting } } },
});

/** Moves the subject of a box taller than the screen into lines to print. */
export const fitToScreen = (
  box: ServerQuestionBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): { readonly box: ServerQuestionBox; readonly printed: readonly StyledLine[] } => {
  const { request, stage } = box;
  if (stage.type === "form" || stage.type === "question" || viewApproval(stage.box, columns).lines.length <= rows)
    return { box, printed: [] };
  const { approval } = stage.box;
  const what = { type: "text", text: "Shown in full above." } as const;
  return {
    box: { request, stage: { ...stage, box: { ...stage.box, approval: { ...approval, subject: what } } } },
    printed: [line(approval.title, { bold: true }), ...viewSubject(approval.subject, columns), []],
  };
};

/** Shows the box, and the cursor in a text field. */
export const viewServerQuestion = (
  { request, stage }: ServerQuestionBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): ReturnType<typeof viewApproval> => {
  switch (stage.type) {
    case "question":
      return viewUserQuestion(stage.box, columns);
    case "form":
      return viewForm(stage.form, { who: askerName(request), width: columns, height: rows });
    case "prompt":
    case "review":
      return viewApproval(stage.box, columns);
  }
};
