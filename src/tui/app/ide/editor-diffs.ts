import type { PendingApproval } from "../../../agent/agent.ts";
import { maxDiffLength, type DiffOutcome, type Ide, type IdeDiff } from "../../../ide/ide.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import { toLineFeeds } from "../../../tools/edit/line-endings.ts";
import type { Clock } from "../../../world/world.ts";

/** The approvals that wait, and how to answer one. */
export type EditorDiffsHost = {
  readonly clock: Pick<Clock, "after">;
  readonly questions: () => readonly PendingApproval[];
  readonly decide: (question: PendingApproval, decision: ApprovalDecision) => void;
  readonly info: (text: string) => void;
};

/** Milliseconds an answer in the terminal waits for the text that the user left in the editor. */
const closeTimeout = 300;

/**
 * Shows the edit that waits for approval as a diff in the editor. The question stays in the terminal; the first answer
 * counts, and the other side closes. An answer of the editor counts only for the text it was shown.
 */
export class EditorDiffs {
  readonly #ide: Ide;
  readonly #host: EditorDiffsHost;
  #open: { readonly key: string; readonly diff: IdeDiff } | undefined;
  /** An edit accepted with changes, until the question with these changes is there. */
  #changed: { readonly id: string; readonly key: string; readonly text: string } | undefined;
  /** Questions that are left to the terminal. */
  readonly #declined = new Set<string>();
  #hasWarned = false;

  constructor(ide: Ide, host: EditorDiffsHost) {
    this.#ide = ide;
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Opens and closes diffs after the pending questions changed. */
  update(): void {
    const questions = this.#host.questions().filter(isEdit);
    this.#confirmChanges(questions);
    if (this.#open !== undefined && !questions.some((each) => keyOf(each) === this.#open?.key)) this.close();
    if (this.#open !== undefined) return;
    const next = questions.find((each) => idOf(each) !== this.#changed?.id && this.#isShowable(each));
    if (next !== undefined) this.#show(next);
  }

  /**
   * Closes the diff of a question that was answered in the terminal. Returns the decision, or the text the user left in
   * the editor: it is asked about again, since the terminal showed another one.
   */
  async reconsider(question: PendingApproval, decision: ApprovalDecision): Promise<ApprovalDecision> {
    const open = this.#open;
    if (!isEdit(question) || open?.key !== keyOf(question)) return decision;
    this.#open = undefined;
    this.#declined.add(idOf(question));
    if (decision.type !== "once" && decision.type !== "always") {
      open.diff.close();
      return decision;
    }
    const text = await this.#inTime(open.diff.closeAccepted());
    if (text === undefined) this.#warnOnce();
    if (text === undefined || isSameText(text, question.approval.subject.after)) return decision;
    this.#host.info(`You changed the text in ${this.#ide.name}. Check the changed edit and answer again.`);
    return { type: "edit", text };
  }

  /** Closes the open diff. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.diff.close();
  }

  /** Says what is written where the editor does not tell whether the user changed the text there. */
  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#host.info(
      `Accepted as shown here. ${this.#ide.name} does not hand over changes made in its diff: to keep those, accept there.`,
    );
  }

  #show(question: EditQuestion): void {
    const key = keyOf(question);
    const { path, after } = question.approval.subject;
    const diff = this.#ide.openDiff({ path, after });
    this.#open = { key, diff };
    void diff.outcome.then((outcome) => this.#settle(key, outcome));
  }

  #settle(key: string, outcome: DiffOutcome): void {
    if (this.#open?.key !== key) return;
    this.#open = undefined;
    const question = this.#host
      .questions()
      .filter(isEdit)
      .find((each) => keyOf(each) === key);
    if (question === undefined) return;
    switch (outcome.type) {
      case "closed":
        this.#declined.add(idOf(question));
        return this.#host.info(`The diff in ${this.#ide.name} was closed without an answer. Answer here.`);
      case "refused":
        this.#host.info(`Refused in ${this.#ide.name}.`);
        return this.#host.decide(question, { type: "refuse" });
      case "accepted":
        return this.#accept(question, outcome.text);
    }
  }

  #accept(question: EditQuestion, text: string): void {
    if (isSameText(text, question.approval.subject.after)) {
      this.#host.info(`Accepted in ${this.#ide.name}.`);
      return this.#host.decide(question, { type: "once" });
    }
    this.#changed = { id: idOf(question), key: keyOf(question), text };
    this.#host.decide(question, { type: "edit", text });
  }

  /** Approves an edit that is asked about again because the user changed it in the editor, if it is exactly that edit. */
  #confirmChanges(questions: readonly EditQuestion[]): void {
    const changed = this.#changed;
    const question = questions.find((each) => idOf(each) === changed?.id && keyOf(each) !== changed?.key);
    if (changed === undefined || question === undefined) return;
    this.#changed = undefined;
    // It is not shown there again, whatever becomes of it.
    this.#declined.add(changed.id);
    const { problem, subject } = question.approval;
    if (problem !== undefined || !isSameText(subject.after, changed.text)) return;
    this.#host.info(`Accepted in ${this.#ide.name}, with your changes.`);
    this.#host.decide(question, { type: "once" });
  }

  #isShowable(question: EditQuestion): boolean {
    const { path, before = "", after } = question.approval.subject;
    // A path that had to be sanitized is not the real one.
    return (
      !this.#declined.has(idOf(question)) &&
      before.length + after.length <= maxDiffLength &&
      !/[\u2400-\u243f]/.test(path)
    );
  }

  #inTime(text: Promise<string | undefined>): Promise<string | undefined> {
    return new Promise((resolve) => {
      const cancel = this.#host.clock.after(closeTimeout, () => resolve(undefined));
      void text.then(resolve).finally(cancel);
    });
  }
}

type EditSubject = Extract<PendingApproval["approval"]["subject"], { type: "edit" }>;
type EditQuestion = PendingApproval & { readonly approval: { readonly subject: EditSubject } };

const isEdit = (question: PendingApproval): question is EditQuestion => question.approval.subject.type === "edit";

const idOf = ({ call, agent }: PendingApproval): string => `${agent ?? ""} ${call}`;

/** Identifies a question by its content: the same call with another text or problem is another question. */
const keyOf = (question: EditQuestion): string =>
  `${idOf(question)} ${question.approval.problem ?? ""} ${question.approval.subject.after}`;

/** Editors may use other line endings; the file keeps its own. */
const isSameText = (a: string, b: string): boolean => toLineFeeds(a) === toLineFeeds(b);
