import type { FormContent } from "../../mcp/asking.ts";
import { readForm } from "../../mcp/form.ts";
import type { KeyEvent } from "../keys/event.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { createApproval, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "./approval.ts";
import { contentOf, createForm, pressForm, reopened, type Form } from "./form.ts";
import { viewForm } from "./form-view.ts";
import { askerOf, openingOf, reviewOf, type ServerAsks } from "./server-words.ts";

/** A server's question on the screen: first as a whole, then field by field, then what would be sent. */
export type ServerBox = { readonly asks: ServerAsks; readonly stage: Stage };

type Stage =
  | { readonly type: "asked"; readonly box: ApprovalBox }
  | { readonly type: "filling"; readonly form: Form; readonly waiting: number }
  | { readonly type: "review"; readonly form: Form; readonly box: ApprovalBox };

/** What a person says to a server. */
export type ServerAnswer =
  | { readonly type: "yes"; readonly content?: FormContent }
  | { readonly type: "no" }
  | { readonly type: "cancel" };

/** What became of a box after a key; `stopped` where the person ends everything under way. */
export type Answering =
  | { readonly type: "open"; readonly box: ServerBox }
  | { readonly type: "answered"; readonly answer: ServerAnswer }
  | { readonly type: "stopped" };

/** A box with "no" in focus. */
export const createServerBox = (
  asks: ServerAsks,
  told: { readonly model: string; readonly waiting: number },
): ServerBox => ({ asks, stage: { type: "asked", box: createApproval(openingOf(asks, told)) } });

/** The box after a key. */
export const pressServerBox = (box: ServerBox, event: KeyEvent): Answering => {
  if (event.type === "key" && event.chord === "ctrl+c") return { type: "stopped" };
  const { asks, stage } = box;
  const open = (next: Stage): Answering => ({ type: "open", box: { asks, stage: next } });
  if (stage.type === "filling") {
    const pressed = pressForm(stage.form, event);
    if (pressed.type === "cancelled") return cancelled;
    if (pressed.type === "open") return open({ ...stage, form: pressed.form });
    const { form } = pressed;
    return open({
      type: "review",
      form,
      box: createApproval(reviewOf(asks, { fields: form.fields, content: contentOf(form) }, stage.waiting)),
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

const cancelled: Answering = { type: "answered", answer: { type: "cancel" } };

const chosen = ({ asks, stage }: ServerBox, id: string): Answering => {
  if (stage.type === "review")
    return id === "edit"
      ? {
          type: "open",
          box: {
            asks,
            stage: { type: "filling", form: reopened(stage.form), waiting: stage.box.approval.waiting },
          },
        }
      : { type: "answered", answer: { type: "yes", content: contentOf(stage.form) } };
  if (asks.type !== "form") return { type: "answered", answer: { type: "yes" } };
  const fields = readForm(asks.schema);
  if (typeof fields === "string") return { type: "answered", answer: { type: "no" } };
  if (fields.length === 0) return { type: "answered", answer: { type: "yes", content: {} } };
  const waiting = stage.type === "asked" ? stage.box.approval.waiting : 0;
  return { type: "open", box: { asks, stage: { type: "filling", form: createForm(fields), waiting } } };
};

/** The same box where another number of questions waits behind it. */
export const withWaiting = ({ asks, stage }: ServerBox, waiting: number): ServerBox => ({
  asks,
  stage:
    stage.type === "filling"
      ? { ...stage, waiting }
      : { ...stage, box: { ...stage.box, approval: { ...stage.box.approval, waiting } } },
});

/** The box with its matter printed instead, where it is higher than the screen; the lines are what to print. */
export const fitting = (
  box: ServerBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): { readonly box: ServerBox; readonly printed: readonly Line[] } => {
  const { asks, stage } = box;
  if (stage.type === "filling" || viewApproval(stage.box, columns).lines.length <= rows) return { box, printed: [] };
  const { approval } = stage.box;
  const what = { type: "text", text: "All of it is shown above." } as const;
  return {
    box: { asks, stage: { ...stage, box: { ...stage.box, approval: { ...approval, what } } } },
    printed: [line(approval.who, { bold: true }), ...viewSubject(approval.what, columns), []],
  };
};

/** The box as lines, and where letters go. */
export const viewServerBox = (
  { asks, stage }: ServerBox,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): ReturnType<typeof viewApproval> =>
  stage.type === "filling"
    ? viewForm(stage.form, { who: askerOf(asks), width: columns, height: rows })
    : viewApproval(stage.box, columns);
