import type { Question } from "../../agent/agent.ts";
import type { Decision } from "../../scheduler/events.ts";
import type { KeyEvent } from "../keys/event.ts";
import type { Live } from "../screen/screen.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { createApproval, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "../views/approval.ts";
import {
  createServerBox,
  fitting,
  pressServerBox,
  viewServerBox,
  withWaiting,
  type ServerBox,
} from "../views/server-question.ts";
import { askerOf } from "../views/server-words.ts";
import { approvalOf, decisionOf } from "./approvals.ts";
import type { Host } from "./front.ts";
import type { ServerQuestion } from "./server-desk.ts";

/** Whom a box asks for. */
export type AskingHost = Pick<
  Host,
  "questions" | "decide" | "editFirst" | "cancel" | "serverQuestions" | "answerServer" | "model"
>;

type Shown =
  | { readonly type: "call"; readonly box: ApprovalBox; readonly key: string }
  | { readonly type: "server"; readonly box: ServerBox; readonly question: ServerQuestion };

/** What the terminal shows of a question: which one, and whether it is the last look at an answer before it is sent. */
export type Drawn = { readonly question: string; readonly isReview: boolean };

type Size = { readonly columns: number; readonly rows: number };

/** Rows that are needed below a question. */
const below = 4;

/** The question that waits for the person: a call's, or a server's. One that is shown stays until it is answered or gone. */
export class AskingBox {
  readonly #host: AskingHost;
  /** Questions that were answered and may still be on the list for a moment. */
  readonly #answered = new Set<string>();
  #shown: Shown | undefined;
  /** What the terminal shows. */
  #drawn: Drawn | undefined;
  #held: string | undefined;

  constructor(host: AskingHost) {
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#shown !== undefined;
  }

  /** Who asks a question that waits until the person has stopped typing. */
  get held(): string | undefined {
    return this.#held;
  }

  /** Names what is on the screen: a question, and whether it is the last step of one that is answered in several. */
  get current(): Drawn | undefined {
    const shown = this.#shown;
    if (shown === undefined) return undefined;
    return shown.type === "call"
      ? { question: `call ${shown.key}`, isReview: false }
      : { question: `server ${shown.question.id}`, isReview: shown.box.stage.type === "review" };
  }

  /** Notes what the terminal shows now. */
  markDrawn(drawn: Drawn | undefined): void {
    this.#drawn = drawn;
  }

  /** Whether the terminal shows what a key would answer: nobody answers what they have not seen. */
  get isAnswerable(): boolean {
    return this.#wasSeen() && this.current?.isReview === this.#drawn?.isReview;
  }

  #wasSeen(): boolean {
    return this.#drawn !== undefined && this.#drawn.question === this.current?.question;
  }

  /**
   * Opens the question that waits, unless the person is busy: a question may come at any time, and must not take the
   * next letter of a message for an answer. Returns lines to print: a question that is higher than the screen, so that
   * all of it can be read.
   */
  look(size: Size, isBusy: boolean): readonly Line[] {
    const calls = this.#waiting();
    const servers = this.#host.serverQuestions();
    const behind = calls.length + servers.length - 1;
    this.#shown = isBusy && !this.#wasSeen() ? undefined : this.#still(calls, servers, behind);
    this.#held = undefined;
    if (this.#shown?.type === "call") return [];
    if (this.#shown !== undefined) return this.#fit(size);
    const [call] = calls;
    const [question] = servers;
    if (isBusy) {
      this.#held = call === undefined ? question && askerOf(question.asks) : approvalOf(call, behind).who;
      return [];
    }
    if (call !== undefined) return this.#showCall(call, behind, size);
    if (question === undefined) return [];
    const box = createServerBox(question.asks, { model: this.#host.model(), waiting: behind });
    this.#shown = { type: "server", question, box };
    return this.#fit(size);
  }

  view(columns: number, rows: number): Live | undefined {
    const shown = this.#shown;
    if (shown === undefined) return undefined;
    return shown.type === "call"
      ? viewApproval(shown.box, columns)
      : viewServerBox(shown.box, { columns, rows: rows - below });
  }

  /** Takes a key; false where nothing is asked. */
  press(event: KeyEvent): boolean {
    const shown = this.#shown;
    if (shown === undefined) return false;
    if (shown.type === "call") this.#pressCall(shown, event);
    else this.#pressServer(shown, event);
    return true;
  }

  /** What is shown, if it still waits. */
  #still(calls: readonly Question[], servers: readonly ServerQuestion[], waiting: number): Shown | undefined {
    const shown = this.#shown;
    switch (shown?.type) {
      case "call":
        return calls.some((each) => keyOf(each) === shown.key)
          ? { ...shown, box: { ...shown.box, approval: { ...shown.box.approval, waiting } } }
          : undefined;
      case "server":
        return servers.some(({ id }) => id === shown.question.id)
          ? { ...shown, box: withWaiting(shown.box, waiting) }
          : undefined;
      case undefined:
        return undefined;
    }
  }

  #showCall(call: Question, waiting: number, { columns, rows }: Size): readonly Line[] {
    const approval = approvalOf(call, waiting);
    const box = createApproval(approval);
    const isPrinted = viewApproval(box, columns).lines.length > rows - below;
    const what = { type: "text", text: "All of it is shown above." } as const;
    this.#shown = { type: "call", key: keyOf(call), box: isPrinted ? createApproval({ ...approval, what }) : box };
    return isPrinted ? [line(approval.who, { bold: true }), ...viewSubject(approval.what, columns), []] : [];
  }

  #fit({ columns, rows }: Size): readonly Line[] {
    if (this.#shown?.type !== "server") return [];
    const { box, printed } = fitting(this.#shown.box, { columns, rows: rows - below });
    this.#shown = { ...this.#shown, box };
    return printed;
  }

  #pressServer(shown: Extract<Shown, { type: "server" }>, event: KeyEvent): void {
    const pressed = pressServerBox(shown.box, event);
    this.#shown = pressed.type === "open" ? { ...shown, box: pressed.box } : undefined;
    if (pressed.type === "answered") this.#host.answerServer(shown.question, pressed.answer);
    if (pressed.type === "stopped") this.#cancel();
  }

  #pressCall(shown: Extract<Shown, { type: "call" }>, event: KeyEvent): void {
    const pressed = pressApproval(shown.box, event);
    this.#shown = pressed.type === "open" ? { ...shown, box: pressed.box } : undefined;
    const question = this.#waiting().find((each) => keyOf(each) === shown.key);
    if (pressed.type === "open" || question === undefined) return;
    if (pressed.type === "cancelled") this.#cancel();
    else if (pressed.type === "refused") this.#decide(question, refusal(pressed.reason));
    else this.#choose(question, pressed.id);
  }

  #waiting(): readonly Question[] {
    const all = this.#host.questions();
    for (const key of this.#answered) if (!all.some((each) => keyOf(each) === key)) this.#answered.delete(key);
    return all.filter((each) => !this.#answered.has(keyOf(each)));
  }

  #cancel(): void {
    for (const each of this.#waiting()) this.#answered.add(keyOf(each));
    this.#host.cancel();
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
