import type { FormContent } from "../../mcp/requests/handlers.ts";
import { readForm } from "../../mcp/requests/form.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { createApprovalBox, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "./approval.ts";
import { contentOf, createForm, pressForm, reopenForm, type FormState } from "./form.ts";
import { viewForm } from "./form-view.ts";
import { askerName, initialPrompt, reviewPrompt, type ServerRequest } from "./server-question-text.ts";

/** A server's question on the screen: first as a whole, then field by field, then what would be sent. */
export type ServerQuestionBox = { readonly request: ServerRequest; readonly stage: ServerQuestionStage };

type ServerQuestionStage =
  | { readonly type: "asked"; readonly box: ApprovalBox }
  | { readonly type: "filling"; readonly form: FormState; readonly waiting: number }
  | { readonly type: "review"; readonly form: FormState; readonly box: ApprovalBox };

/** What a person says to a server. */
export type ServerAnswer =
  | { readonly type: "yes"; readonly content?: FormContent }
  | { readonly type: "no" }
  | { readonly type: "cancel" };

/** What became of a box after a key; `stopped` where the person ends everything under way. */
export type ServerKeyResult =
  | { readonly type: "open"; readonly box: ServerQuestionBox }
  | { readonly type: "answered"; readonly answer: ServerAnswer }
  | { readonly type: "stopped" };

/** A box with "no" in focus. */
export const createServerQuestionBox = (
  asks: ServerRequest,
  told: { readonly model: string; readonly waiting: number },
): ServerQuestionBox => ({
  request: asks,
  stage: { type: "asked", box: createApprovalBox(initialPrompt(asks, told)) },
});

/** The box after a key. */
export const pressServerQuestion = (box: ServerQuestionBox, event: KeyEvent): ServerKeyResult => {
  if (event.type === "key" && event.chord === "ctrl+c") return { type: "stopped" };
  const { request: asks, stage } = box;
  const open = (next: ServerQuestionStage): ServerKeyResult => ({ type: "open", box: { request: asks, stage: next } });
  if (stage.type === "filling") {
    const pressed = pressForm(stage.form, event);
    if (pressed.type === "cancelled") return cancelled;
    if (pressed.type === "open") return open({ ...stage, form: pressed.form });
    const { form } = pressed;
    return open({
      type: "review",
      form,
      box: createApprovalBox(reviewPrompt(asks, { fields: form.fields, content: contentOf(form) }, stage.waiting)),
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

const chosen = ({ request: asks, stage }: ServerQuestionBox, id: string): ServerKeyResult => {
  if (stage.type === "review")
    return id === "edit"
      ? {
          type: "open",
          box: {
            request: asks,
            stage: { type: "filling", form: reopenForm(stage.form), waiting: stage.box.approval.waiting },
          },
        }
      : { type: "answered", answer: { type: "yes", content: contentOf(stage.form) } };
  if (asks.type !== "form") return { type: "answered", answer: { type: "yes" } };
  const fields = readForm(asks.schema);
  if (typeof fields === "string") return { type: "answered", answer: { type: "no" } };
  if (fields.length === 0) return { type: "answered", answer: { type: "yes", content: {} } };
  const waiting = stage.type === "asked" ? stage.box.approval.waiting : 0;
  return { type: "open", box: { request: asks, stage: { type: "filling", form: createForm(fields), waiting } } };
};

/** The same box where another number of questions waits behind it. */
export const withWaiting = ({ request: asks, stage }: ServerQuestionBox, waiting: number): ServerQuestionBox => ({
  request: asks,
  stage:
    stage.type === "filling"
      ? { ...stage, waiting }
      : { ...stage, box: { ...stage.box, approval: { ...stage.box.approval, waiting } } },
});

/** The box with its matter printed instead, where it is higher than the screen; the lines are what to print. */
export const fitToScreen = (
  box: ServerQuestionBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): { readonly box: ServerQuestionBox; readonly printed: readonly StyledLine[] } => {
  const { request: asks, stage } = box;
  if (stage.type === "filling" || viewApproval(stage.box, columns).lines.length <= rows) return { box, printed: [] };
  const { approval } = stage.box;
  const what = { type: "text", text: "All of it is shown above." } as const;
  return {
    box: { request: asks, stage: { ...stage, box: { ...stage.box, approval: { ...approval, subject: what } } } },
    printed: [line(approval.title, { bold: true }), ...viewSubject(approval.subject, columns), []],
  };
};

/** The box as lines, and where letters go. */
export const viewServerQuestion = (
  { request: asks, stage }: ServerQuestionBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): ReturnType<typeof viewApproval> =>
  stage.type === "filling"
    ? viewForm(stage.form, { who: askerName(asks), width: columns, height: rows })
    : viewApproval(stage.box, columns);
