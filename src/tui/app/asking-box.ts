import type { Question } from "../../agent/agent.ts";
import type { Decision } from "../../scheduler/events.ts";
import type { KeyEvent } from "../keys/event.ts";
import type { Live } from "../screen/screen.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { createApproval, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "../views/approval.ts";
import { approvalOf, decisionOf } from "./approvals.ts";
import type { Host } from "./front.ts";

type Shown = { readonly box: ApprovalBox; readonly key: string; readonly isPrinted: boolean };

/** Rows that are needed below a question. */
const below = 4;

/** The question that waits for the person. One that is shown stays until it is answered or gone. */
export class AskingBox {
  readonly #host: Pick<Host, "questions" | "decide" | "editFirst" | "cancel">;
  /** Questions that were answered and may still be on the list for a moment. */
  readonly #answered = new Set<string>();
  #shown: Shown | undefined;

  constructor(host: Pick<Host, "questions" | "decide" | "editFirst" | "cancel">) {
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#shown !== undefined;
  }

  /** Takes over what waits now. A question that is higher than the screen is printed, so that all of it can be read. */
  look({ columns, rows }: { readonly columns: number; readonly rows: number }): readonly Line[] {
    const waiting = this.#waiting();
    const shown = this.#shown;
    const same = waiting.find((each) => keyOf(each) === shown?.key);
    const [first] = waiting;
    if (same !== undefined && shown !== undefined) {
      const approval = { ...shown.box.approval, waiting: waiting.length - 1 };
      this.#shown = { ...shown, box: { ...shown.box, approval } };
      return [];
    }
    if (first === undefined) {
      this.#shown = undefined;
      return [];
    }
    const approval = approvalOf(first, waiting.length - 1);
    const box = createApproval(approval);
    const isPrinted = viewApproval(box, columns).lines.length > rows - below;
    const what = { type: "text", text: "All of it is shown above." } as const;
    this.#shown = { key: keyOf(first), isPrinted, box: isPrinted ? createApproval({ ...approval, what }) : box };
    return isPrinted ? [line(approval.who, { bold: true }), ...viewSubject(approval.what, columns), []] : [];
  }

  view(columns: number): Live | undefined {
    return this.#shown && viewApproval(this.#shown.box, columns);
  }

  /** Takes a key; false where nothing is asked. */
  press(event: KeyEvent): boolean {
    const shown = this.#shown;
    if (shown === undefined) return false;
    const pressed = pressApproval(shown.box, event);
    if (pressed.type === "open") {
      this.#shown = { ...shown, box: pressed.box };
      return true;
    }
    this.#shown = undefined;
    const waiting = this.#waiting();
    const question = waiting.find((each) => keyOf(each) === shown.key);
    if (question === undefined) return true;
    if (pressed.type === "cancelled") {
      for (const each of waiting) this.#answered.add(keyOf(each));
      this.#host.cancel();
    } else if (pressed.type === "refused") this.#decide(question, refusal(pressed.reason));
    else this.#choose(question, pressed.id);
    return true;
  }

  #waiting(): readonly Question[] {
    const all = this.#host.questions();
    for (const key of this.#answered) if (!all.some((each) => keyOf(each) === key)) this.#answered.delete(key);
    return all.filter((each) => !this.#answered.has(keyOf(each)));
  }

  #decide(question: Question, decision: Decision): void {
    this.#answered.add(keyOf(question));
    this.#host.decide(question, decision);
  }

  #choose(question: Question, id: string): void {
    const decision = decisionOf(id);
    if (decision === undefined) this.#host.editFirst(question);
    else this.#decide(question, decision);
  }
}

/** A no, with the reason where one was given. */
export const refusal = (reason: string): { readonly type: "refuse"; readonly reason?: string } => ({
  type: "refuse",
  ...(reason === "" ? {} : { reason }),
});

/** A question by its words: one that is put again with another text is another one. */
const keyOf = ({ call, agent, approval }: Question): string =>
  `${agent ?? ""} ${call} ${approval.problem ?? ""} ${approval.about.type === "edit" ? approval.about.after : ""}`;
