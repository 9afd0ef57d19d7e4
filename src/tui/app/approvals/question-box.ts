import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { KeyEvent } from "../../keys/key-event.ts";
import type { LiveView } from "../../screen/screen.ts";
import { line } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { createApprovalBox, pressApproval, viewApproval, viewSubject, type ApprovalBox } from "../../views/approval.ts";
import {
  createServerQuestionBox,
  fitToScreen,
  pressServerQuestion,
  viewServerQuestion,
  withWaiting,
  type ServerQuestionBox,
} from "../../views/server-question.ts";
import { askerName } from "../../views/server-question-text.ts";
import { createApprovalPrompt, decisionFor } from "./approval-prompt.ts";
import type { FrontEndHost } from "../front-ends/front-end.ts";
import type { ServerQuestion } from "./server-questions.ts";

/** The part of the host a question box uses. */
export type QuestionBoxHost = Pick<
  FrontEndHost,
  | "questions"
  | "markPrinted"
  | "answerApproval"
  | "editBeforeApproval"
  | "cancel"
  | "serverQuestions"
  | "answerServer"
  | "model"
  | "coloursOf"
>;

type ShownQuestion =
  | { readonly type: "call"; readonly box: ApprovalBox; readonly key: string }
  | { readonly type: "server"; readonly box: ServerQuestionBox; readonly question: ServerQuestion };

/** The question drawn on the terminal, and whether it shows the final review of an answer. */
export type DrawnQuestion = { readonly question: string; readonly isReview: boolean };

type QuestionBoxSize = { readonly columns: number; readonly rows: number };

/** Rows reserved below a question. */
const rowsBelow = 4;

/** Shows the pending question of a tool call or a server. A shown question stays until it is answered or withdrawn. */
export class QuestionBox {
  readonly #host: QuestionBoxHost;
  /** Answered questions that may still be listed for a moment. */
  readonly #answered = new Set<string>();
  #shown: ShownQuestion | undefined;
  /** The question drawn on the terminal. */
  #drawn: DrawnQuestion | undefined;
  #deferred: string | undefined;

  constructor(host: QuestionBoxHost) {
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#shown !== undefined;
  }

  /** The title of the question that is deferred while the user types. */
  get deferredTitle(): string | undefined {
    return this.#deferred;
  }

  /** The question on the screen, and whether it is at its final review step. */
  get current(): DrawnQuestion | undefined {
    const shown = this.#shown;
    if (shown === undefined) return undefined;
    return shown.type === "call"
      ? { question: `call ${shown.key}`, isReview: false }
      : { question: `server ${shown.question.id}`, isReview: shown.box.stage.type === "review" };
  }

  /** Records what the terminal shows now. */
  markDrawn(drawn: DrawnQuestion | undefined): void {
    this.#drawn = drawn;
  }

  /** Whether the terminal shows the question a key would answer: an unseen question cannot be answered. */
  get isAnswerable(): boolean {
    return this.#isDrawn() && this.current?.isReview === this.#drawn?.isReview;
  }

  /** Whether Enter would allow a tool call. */
  get enterAllows(): boolean {
    return this.#shown?.type === "call" && this.#shown.box.focus < this.#shown.box.approval.choices.length;
  }

  #isDrawn(): boolean {
    return this.#drawn !== undefined && this.#drawn.question === this.current?.question;
  }

  /**
   * Opens the pending question unless the user is typing: a question can come at any time, and must not take the next
   * letter of a message as its answer. Returns lines to print for a question taller than the screen, so that all of it
   * can be read.
   */
  refresh(size: QuestionBoxSize, isTyping: boolean): readonly StyledLine[] {
    const calls = this.#pendingApprovals();
    const servers = this.#host.serverQuestions();
    const waitingBehind = calls.length + servers.length - 1;
    this.#shown = isTyping && !this.#isDrawn() ? undefined : this.#stillPending(calls, servers, waitingBehind);
    this.#deferred = undefined;
    if (this.#shown?.type === "call") return [];
    if (this.#shown !== undefined) return this.#fit(size);
    const [call] = calls;
    const [question] = servers;
    if (isTyping) {
      this.#deferred =
        call === undefined ? question && askerName(question.request) : createApprovalPrompt(call, waitingBehind).title;
      return [];
    }
    if (call !== undefined) return this.#showCall(call, waitingBehind, size);
    if (question === undefined) return [];
    const box = createServerQuestionBox(question.request, { model: this.#host.model(), waiting: waitingBehind });
    this.#shown = { type: "server", question, box };
    return this.#fit(size);
  }

  view(columns: number, rows: number): LiveView | undefined {
    const shown = this.#shown;
    if (shown === undefined) return undefined;
    return shown.type === "call"
      ? viewApproval(shown.box, columns, this.#host.coloursOf)
      : viewServerQuestion(shown.box, { columns, rows: rows - rowsBelow });
  }

  /** Handles a key; returns false if no question is open. */
  press(event: KeyEvent): boolean {
    const shown = this.#shown;
    if (shown === undefined) return false;
    if (shown.type === "call") this.#pressCall(shown, event);
    else this.#pressServer(shown, event);
    return true;
  }

  /** Returns the shown question if it is still pending. */
  #stillPending(
    calls: readonly PendingApproval[],
    servers: readonly ServerQuestion[],
    waiting: number,
  ): ShownQuestion | undefined {
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

  #showCall(call: PendingApproval, waiting: number, { columns, rows }: QuestionBoxSize): readonly StyledLine[] {
    const approval = createApprovalPrompt(call, waiting);
    const box = createApprovalBox(approval);
    const isPrinted = viewApproval(box, columns).lines.length > rows - rowsBelow;
    const subject = { type: "text", text: "Shown in full above." } as const;
    this.#shown = {
      type: "call",
      key: keyOf(call),
      box: isPrinted ? createApprovalBox({ ...approval, subject }) : box,
    };
    if (isPrinted) this.#host.markPrinted(call);
    return isPrinted
      ? [line(approval.title, { bold: true }), ...viewSubject(approval.subject, columns, this.#host.coloursOf), []]
      : [];
  }

  #fit({ columns, rows }: QuestionBoxSize): readonly StyledLine[] {
    if (this.#shown?.type !== "server") return [];
    const { box, printed } = fitToScreen(this.#shown.box, { columns, rows: rows - rowsBelow });
    this.#shown = { ...this.#shown, box };
    return printed;
  }

  #pressServer(shown: Extract<ShownQuestion, { type: "server" }>, event: KeyEvent): void {
    const pressed = pressServerQuestion(shown.box, event);
    this.#shown = pressed.type === "open" ? { ...shown, box: pressed.box } : undefined;
    if (pressed.type === "answered") this.#host.answerServer(shown.question, pressed.answer);
    if (pressed.type === "stopped") this.#cancel();
  }

  #pressCall(shown: Extract<ShownQuestion, { type: "call" }>, event: KeyEvent): void {
    const pressed = pressApproval(shown.box, event);
    this.#shown = pressed.type === "open" ? { ...shown, box: pressed.box } : undefined;
    const question = this.#pendingApprovals().find((each) => keyOf(each) === shown.key);
    if (pressed.type === "open" || question === undefined) return;
    if (pressed.type === "cancelled") this.#cancel();
    else if (pressed.type === "refused") this.#decide(question, refuseDecision(pressed.reason));
    else this.#choose(question, pressed.id);
  }

  #pendingApprovals(): readonly PendingApproval[] {
    const all = this.#host.questions();
    for (const key of this.#answered) if (!all.some((each) => keyOf(each) === key)) this.#answered.delete(key);
    return all.filter((each) => !this.#answered.has(keyOf(each)));
  }

  #cancel(): void {
    for (const each of this.#pendingApprovals()) this.#answered.add(keyOf(each));
    this.#host.cancel();
  }

  #decide(question: PendingApproval, decision: ApprovalDecision): void {
    this.#answered.add(keyOf(question));
    this.#host.answerApproval(question, decision);
  }

  #choose(question: PendingApproval, id: string): void {
    const decision = decisionFor(id);
    if (decision === undefined) this.#host.editBeforeApproval(question);
    else this.#decide(question, decision);
  }
}

/** Returns a refusal, with the reason if one was typed. */
export const refuseDecision = (reason: string): { readonly type: "refuse"; readonly reason?: string } => ({
  type: "refuse",
  ...(reason === "" ? {} : { reason }),
});

/** Identifies a question by its content: the same call asked again with another text is another question. */
const keyOf = ({ call, agent, approval }: PendingApproval): string =>
  `${agent ?? ""} ${call} ${approval.problem ?? ""} ${approval.subject.type === "edit" ? approval.subject.after : ""}`;
