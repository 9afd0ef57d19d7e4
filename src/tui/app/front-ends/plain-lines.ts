import type { PendingApproval } from "../../../agent/agent.ts";
import type { Terminal } from "../../../world/terminal.ts";
import type { Clock } from "../../../world/world.ts";
import { LinePrinter } from "../../screen/line-printer.ts";
import { line } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { viewSubject } from "../../views/approval.ts";
import { rankOptions, alwaysListed, listedOptions, type PickerOption } from "../../views/picker.ts";
import { createApprovalPrompt, decisionFor } from "../approvals/approval-prompt.ts";
import { refuseDecision } from "../approvals/question-box.ts";
import type { FrontEnd, FrontEndHost } from "./front-end.ts";
import { createLineDialog, type LineDialog } from "./line-dialog.ts";
import { describeSendAfter } from "./queue-view.ts";
import type { ServerQuestion } from "../approvals/server-questions.ts";

/** Ctrl-C as sent by a terminal. */
const ctrlC = 3;

/** A line of Ctrl-O alone. */
const ctrlO = "\u000f";

type OpenList = {
  readonly options: readonly PickerOption[];
  /** Whether anything but a number is the user's next message. */
  readonly isConfirmation: boolean;
  readonly done: (option: PickerOption | undefined) => void;
};

/** Milliseconds between a question and the line that says how to answer; a line typed before that was begun before the question. */
const answerDelay = 1000;

type OpenServerDialog = { readonly question: ServerQuestion; readonly dialog: LineDialog };

/** A front end of plain lines for screen readers: the terminal edits the input line, and nothing is redrawn. */
export class LineFrontEnd implements FrontEnd {
  readonly imageSupport = "none";
  readonly coloursDiffs = false;
  readonly echoesInput = true;
  readonly #surface: LinePrinter;
  readonly #terminal: Terminal;
  readonly #host: FrontEndHost;
  readonly #decoder = new TextDecoder();
  #partialLine = "";
  #stopListening: () => void;
  #openList: OpenList | undefined;
  #approval: PendingApproval | undefined;
  #serverDialog: OpenServerDialog | undefined;
  #isQuitRequested = false;
  #wasBusy = false;
  /** The work that was named last. */
  #work: string | undefined;
  readonly #clock: Pick<Clock, "after">;
  /** Cancels the line that says how to answer, if it has not been printed. */
  #stopPromptTimer: (() => void) | undefined;

  constructor({
    terminal,
    host,
    clock,
  }: {
    readonly terminal: Terminal;
    readonly host: FrontEndHost;
    readonly clock: Pick<Clock, "after">;
  }) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#host = host;
    this.#surface = new LinePrinter(terminal);
    this.#stopListening = this.#listen();
  }

  /** Lines are not wrapped: a screen reader ignores the width. */
  width(): number {
    return 1000;
  }

  print(lines: readonly StyledLine[]): void {
    this.#surface.print(lines.filter((each) => each.length > 0));
  }

  update(): void {
    this.#askNext();
    const isBusy = this.#host.busySince() !== undefined;
    const label = this.#host.work()?.label;
    if (label !== undefined && label !== this.#work) this.print([line(`${label}…`)]);
    this.#work = label;
    if (this.#wasBusy && !isBusy) this.print([line("Ready.")]);
    this.#wasBusy = isBusy;
  }

  waitForDrain(): Promise<void> {
    return this.#surface.waitForDrain();
  }

  pick(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined> {
    return this.#printList(title, options, false);
  }

  confirm(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined> {
    return this.#printList(title, options, true);
  }

  #printList(
    title: string,
    options: readonly PickerOption[],
    isConfirmation: boolean,
  ): Promise<PickerOption | undefined> {
    return new Promise((done) => {
      this.#openList?.done(undefined);
      this.#openList = { options, isConfirmation, done };
      this.print([line(title), ...listLines(options)]);
      const prompt = line(listPrompt(options, isConfirmation));
      if (isConfirmation) this.#printPromptLater(prompt);
      else this.print([prompt]);
    });
  }

  restoreDraft(marked: string): void {
    this.print([line(`Not sent: ${marked}`)]);
  }

  async suspendFor<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#surface.flush();
    this.#stopListening();
    try {
      return await work();
    } finally {
      this.#stopListening = this.#listen();
    }
  }

  copyToClipboard(text: string): Promise<void> {
    return this.#terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  printImage(): void {}

  setTheme(): void {}

  keyRemap(): undefined {
    return undefined;
  }

  /** Printed lines are read out anyway. */
  notifyIfAway(): void {}

  keyLabel(_: string, standard: string): string {
    return standard;
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#cancelPrompt();
    this.#openList?.done(undefined);
    await this.#surface.close();
  }

  #listen(): () => void {
    return this.#terminal.listen((event) => {
      switch (event.type) {
        case "input":
          return this.#handleBytes(event.bytes);
        case "resize":
        case "continue":
          return;
        case "hang-up":
        case "terminate":
          return this.#host.quit(event.type);
      }
    });
  }

  #handleBytes(bytes: Uint8Array): void {
    if (bytes.length === 1 && bytes[0] === ctrlC) return this.#interrupt();
    const lines = (this.#partialLine + this.#decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    this.#partialLine = lines.pop() ?? "";
    for (const each of lines) this.#handleLine(each);
  }

  #interrupt(): void {
    if (this.#host.busySince() !== undefined || this.#serverDialog !== undefined) return this.#host.cancel();
    if (this.#isQuitRequested) return this.#host.quit();
    this.#isQuitRequested = true;
    this.print([line("Press Ctrl-C again to quit.")]);
  }

  #handleLine(typed: string): void {
    this.#isQuitRequested = false;
    if (typed === ctrlO) return this.#host.expandCollapsed();
    const isQuestionOpen =
      this.#openList !== undefined || this.#approval !== undefined || this.#serverDialog !== undefined;
    if (isQuestionOpen && this.#stopPromptTimer !== undefined) return this.#handleEarlyLine(typed);
    if (this.#openList !== undefined) this.#chooseOption(typed.trim(), this.#openList);
    else if (this.#approval !== undefined) this.#answerApproval(typed.trim(), this.#approval);
    else if (this.#serverDialog !== undefined) this.#answerServer(typed, this.#serverDialog);
    else this.#submit(typed);
  }

  #submit(typed: string): void {
    if (typed.trim() === "") return;
    const before = this.#host.queued().length;
    this.#host.submit(typed);
    const queued = this.#host.queued();
    const last = queued.at(-1);
    if (queued.length > before && last !== undefined)
      this.print([line(`Queued, ${describeSendAfter(last.sendAfter)}. Ctrl-C cancels and does not send it.`)]);
  }

  /** A line begun before the question is a message, never an answer. */
  #handleEarlyLine(typed: string): void {
    if (isMessage(typed)) return this.#submit(typed);
    this.print([line("Not taken as an answer: you were typing when the question arrived.")]);
  }

  /** Prints how to answer after a delay. Until then no line is an answer. */
  #printPromptLater(prompt: StyledLine): void {
    this.#cancelPrompt();
    this.#stopPromptTimer = this.#clock.after(answerDelay, () => {
      this.#stopPromptTimer = undefined;
      this.print([prompt]);
    });
  }

  /** Cancels the answer line of a question that is gone. */
  #cancelPrompt(): void {
    this.#stopPromptTimer?.();
    this.#stopPromptTimer = undefined;
  }

  #chooseOption(typed: string, { options, isConfirmation, done }: OpenList): void {
    const option = listedOptions(options, "").slice(0, maxListed)[Number(typed) - 1];
    if (typed !== "" && option === undefined && !isConfirmation && isSearchable(options)) {
      const matching = rankOptions(typed, options).map(({ item }) => alwaysListed(item));
      if (matching.length > 0) this.#openList = { options: matching, isConfirmation, done };
      const listed = matching.length > 0 ? matching : options;
      return this.print([
        ...(matching.length > 0 ? listLines(matching) : [line(`Nothing matches "${typed}".`)]),
        line(listPrompt(listed, false)),
      ]);
    }
    if (typed !== "" && option === undefined && isConfirmation) {
      if (isMessage(typed)) this.#submit(typed);
      return this.print([line(`Type a number from 1 to ${options.length} and Enter; Enter alone cancels.`)]);
    }
    this.#openList = undefined;
    if (option === undefined) this.print([line("Cancelled.")]);
    done(option);
  }

  /** Asks the first pending question, once: tool calls before servers, but never in the middle of a server dialog. */
  #askNext(): void {
    const waiting = this.#host.questions();
    const servers = this.#host.serverQuestions();
    const [first] = waiting;
    if (this.#approval !== undefined && waiting.some((each) => each.approval === this.#approval?.approval)) return;
    this.#approval = undefined;
    if (servers.some(({ id }) => id === this.#serverDialog?.question.id)) return;
    this.#serverDialog = undefined;
    if (this.#openList === undefined) this.#cancelPrompt();
    if (first === undefined) return this.#askServer(servers);
    this.#approval = first;
    const { title, subject, effects = "", reasons, rule, choices } = createApprovalPrompt(first, waiting.length - 1);
    this.print([
      line(title),
      ...viewSubject(subject, this.width()),
      ...(effects === "" ? [] : [line(`Effects: ${effects}`)]),
      ...reasons.map((each) => line(each)),
      ...(rule === undefined ? [] : [line(`Rule that allows it: ${rule}`)]),
      line(`n: No (a reason may follow). ${choices.map(({ key, label }) => `${key}: ${label}.`).join(" ")}`),
    ]);
    this.#printPromptLater(line("Type a letter and Enter."));
  }

  #askServer(waiting: readonly ServerQuestion[]): void {
    const [question] = waiting;
    if (question === undefined) return;
    const context = { model: this.#host.model(), waiting: waiting.length - 1 };
    const dialog = createLineDialog(question.request, context, this.width());
    this.#serverDialog = { question, dialog };
    this.print(dialog.lines.slice(0, -1));
    this.#printPromptLater(dialog.lines.at(-1) ?? []);
  }

  #answerServer(typed: string, { question, dialog }: OpenServerDialog): void {
    const next = dialog.submit(typed);
    if ("type" in next) {
      this.#serverDialog = undefined;
      return this.#host.answerServer(question, next);
    }
    this.#serverDialog = { question, dialog: next };
    this.print(next.lines);
  }

  /** One letter answers; words after an n are the reason. A sentence is a message; anything else asks again. */
  #answerApproval(typed: string, question: PendingApproval): void {
    const { choices } = createApprovalPrompt(question, 0);
    const [, reason] = /^n(?:o)?(?:[\s:,]+(.*))?$/is.exec(typed) ?? [typed, undefined];
    const choice = choices.find(({ key }) => key === typed.toLowerCase());
    if (choice === undefined && !/^no?\b/i.test(typed) && isMessage(typed)) return this.#submit(typed);
    this.#approval = undefined;
    if (/^no?\b/i.test(typed)) this.#host.answerApproval(question, refuseDecision(reason ?? ""));
    else if (choice !== undefined) {
      const decision = decisionFor(choice.id);
      if (decision === undefined) this.#host.editBeforeApproval(question);
      else this.#host.answerApproval(question, decision);
    } else this.#askNext();
  }
}

/** Whether a line is more than a mistyped answer. */
const isMessage = (typed: string): boolean => typed.trim().length > 3;

/** Options of a list that are read out; typing a part of a name finds the others. */
const maxListed = 10;

const isSearchable = (options: readonly PickerOption[]): boolean =>
  options.length > maxListed || options.some(({ listed }) => listed === "typed");

const listLines = (options: readonly PickerOption[]): readonly StyledLine[] => {
  const listed = listedOptions(options, "");
  return [
    ...listed
      .slice(0, maxListed)
      .map(({ label, detail }, at) => line(`${at + 1}. ${label}${detail === undefined ? "" : `: ${detail}`}`)),
    ...(listed.length > maxListed ? [line(`${listed.length - maxListed} more.`)] : []),
  ];
};

const listPrompt = (options: readonly PickerOption[], isConfirmation: boolean): string =>
  isSearchable(options) && !isConfirmation
    ? "Type a number and Enter, or a part of a name to find others; Enter alone cancels."
    : "Type a number and Enter; Enter alone cancels.";
