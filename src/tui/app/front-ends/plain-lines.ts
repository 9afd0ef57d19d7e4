import type { PendingApproval } from "../../../agent/agent.ts";
import type { Terminal } from "../../../world/terminal.ts";
import type { Clock } from "../../../world/world.ts";
import { LinePrinter } from "../../screen/line-printer.ts";
import { line } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { viewSubject } from "../../views/approval.ts";
import type { PickerOption } from "../../views/picker.ts";
import { createApprovalPrompt, decisionFor } from "../approvals/approval-prompt.ts";
import { refuseDecision } from "../approvals/question-box.ts";
import type { FrontEnd, FrontEndHost } from "./front-end.ts";
import { createLineDialog, type LineDialog } from "./line-dialog.ts";
import type { ServerQuestion } from "../approvals/server-questions.ts";

/** Ctrl-C as sent by a terminal. */
const ctrlC = 3;

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
  readonly #surface: LinePrinter;
  readonly #terminal: Terminal;
  readonly #host: FrontEndHost;
  readonly #decoder = new TextDecoder();
  #typed = "";
  #stop: () => void;
  #picking: OpenList | undefined;
  #asked: PendingApproval | undefined;
  #server: OpenServerDialog | undefined;
  #wantsToLeave = false;
  #wasBusy = false;
  readonly #clock: Pick<Clock, "after">;
  /** Cancels the line that says how to answer, if it has not been printed. */
  #dropPrompt: (() => void) | undefined;

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
    this.#stop = this.#listen();
  }

  /** Lines are not wrapped: a screen reader ignores the width. */
  width(): number {
    return 1000;
  }

  print(lines: readonly StyledLine[]): void {
    this.#surface.print(lines.filter((each) => each.length > 0));
  }

  update(): void {
    this.#ask();
    const isBusy = this.#host.busySince() !== undefined;
    if (this.#wasBusy && !isBusy) this.print([line("Ready.")]);
    this.#wasBusy = isBusy;
  }

  waitForDrain(): Promise<void> {
    return this.#surface.waitForDrain();
  }

  pick(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined> {
    return this.#list(title, options, false);
  }

  confirm(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined> {
    return this.#list(title, options, true);
  }

  #list(title: string, options: readonly PickerOption[], isConfirmation: boolean): Promise<PickerOption | undefined> {
    return new Promise((done) => {
      this.#picking?.done(undefined);
      this.#picking = { options, isConfirmation, done };
      const prompt = line("Type a number and Enter; Enter alone cancels.");
      this.print([
        line(title),
        ...options.map(({ label, detail }, at) =>
          line(`${at + 1}. ${label}${detail === undefined ? "" : `: ${detail}`}`),
        ),
      ]);
      if (isConfirmation) this.#promptLater(prompt);
      else this.print([prompt]);
    });
  }

  async suspendFor<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#surface.flush();
    this.#stop();
    try {
      return await work();
    } finally {
      this.#stop = this.#listen();
    }
  }

  copyToClipboard(text: string): Promise<void> {
    return this.#terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  printImage(): void {}

  setTheme(): void {}

  async close(): Promise<void> {
    this.#stop();
    this.#forgetPrompt();
    this.#picking?.done(undefined);
    await this.#surface.close();
  }

  #listen(): () => void {
    return this.#terminal.listen((event) => {
      switch (event.type) {
        case "input":
          return this.#hear(event.bytes);
        case "resize":
        case "continue":
          return;
        case "hang-up":
        case "terminate":
          return this.#host.quit(event.type);
      }
    });
  }

  #hear(bytes: Uint8Array): void {
    if (bytes.length === 1 && bytes[0] === ctrlC) return this.#interrupt();
    const lines = (this.#typed + this.#decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    this.#typed = lines.pop() ?? "";
    for (const each of lines) this.#take(each);
  }

  #interrupt(): void {
    if (this.#host.busySince() !== undefined || this.#server !== undefined) return this.#host.cancel();
    if (this.#wantsToLeave) return this.#host.quit();
    this.#wantsToLeave = true;
    this.print([line("Press Ctrl-C again to quit.")]);
  }

  #take(typed: string): void {
    this.#wantsToLeave = false;
    const isQuestionOpen = this.#picking !== undefined || this.#asked !== undefined || this.#server !== undefined;
    if (isQuestionOpen && this.#dropPrompt !== undefined) return this.#takeEarly(typed);
    if (this.#picking !== undefined) this.#choose(typed.trim(), this.#picking);
    else if (this.#asked !== undefined) this.#answer(typed.trim(), this.#asked);
    else if (this.#server !== undefined) this.#answerServer(typed, this.#server);
    else this.#submit(typed);
  }

  #submit(typed: string): void {
    if (typed.trim() !== "") this.#host.submit(typed);
  }

  /** A line begun before the question is a message, never an answer. */
  #takeEarly(typed: string): void {
    if (isMessage(typed)) return this.#submit(typed);
    this.print([line("Not taken as an answer: you were typing when the question arrived.")]);
  }

  /** Prints how to answer after a delay. Until then no line is an answer. */
  #promptLater(prompt: StyledLine): void {
    this.#forgetPrompt();
    this.#dropPrompt = this.#clock.after(answerDelay, () => {
      this.#dropPrompt = undefined;
      this.print([prompt]);
    });
  }

  /** Cancels the answer line of a question that is gone. */
  #forgetPrompt(): void {
    this.#dropPrompt?.();
    this.#dropPrompt = undefined;
  }

  #choose(typed: string, { options, isConfirmation, done }: OpenList): void {
    const option = options[Number(typed) - 1];
    if (typed !== "" && option === undefined && isConfirmation) {
      if (isMessage(typed)) this.#submit(typed);
      return this.print([line(`Type a number from 1 to ${options.length} and Enter; Enter alone cancels.`)]);
    }
    this.#picking = undefined;
    done(option);
  }

  /** Asks the first pending question, once: tool calls before servers, but never in the middle of a server dialog. */
  #ask(): void {
    const waiting = this.#host.questions();
    const servers = this.#host.serverQuestions();
    const [first] = waiting;
    if (this.#asked !== undefined && waiting.some((each) => each.approval === this.#asked?.approval)) return;
    this.#asked = undefined;
    if (servers.some(({ id }) => id === this.#server?.question.id)) return;
    this.#server = undefined;
    if (this.#picking === undefined) this.#forgetPrompt();
    if (first === undefined) return this.#askServer(servers);
    this.#asked = first;
    const { title, subject, reasons, choices } = createApprovalPrompt(first, waiting.length - 1);
    this.print([
      line(title),
      ...viewSubject(subject, this.width()),
      ...reasons.map((each) => line(each)),
      line(`n: No (a reason may follow). ${choices.map(({ key, label }) => `${key}: ${label}.`).join(" ")}`),
    ]);
    this.#promptLater(line("Type a letter and Enter."));
  }

  #askServer(waiting: readonly ServerQuestion[]): void {
    const [question] = waiting;
    if (question === undefined) return;
    const context = { model: this.#host.model(), waiting: waiting.length - 1 };
    const dialog = createLineDialog(question.request, context, this.width());
    this.#server = { question, dialog };
    this.print(dialog.lines.slice(0, -1));
    this.#promptLater(dialog.lines.at(-1) ?? []);
  }

  #answerServer(typed: string, { question, dialog }: OpenServerDialog): void {
    const next = dialog.submit(typed);
    if ("type" in next) {
      this.#server = undefined;
      return this.#host.answerServer(question, next);
    }
    this.#server = { question, dialog: next };
    this.print(next.lines);
  }

  /** One letter answers; words after an n are the reason. A sentence is a message; anything else asks again. */
  #answer(typed: string, question: PendingApproval): void {
    const { choices } = createApprovalPrompt(question, 0);
    const [, reason] = /^n(?:o)?(?:[\s:,]+(.*))?$/is.exec(typed) ?? [typed, undefined];
    const choice = choices.find(({ key }) => key === typed.toLowerCase());
    if (choice === undefined && !/^no?\b/i.test(typed) && isMessage(typed)) return this.#submit(typed);
    this.#asked = undefined;
    if (/^no?\b/i.test(typed)) this.#host.answerApproval(question, refuseDecision(reason ?? ""));
    else if (choice !== undefined) {
      const decision = decisionFor(choice.id);
      if (decision === undefined) this.#host.editBeforeApproval(question);
      else this.#host.answerApproval(question, decision);
    } else this.#ask();
  }
}

/** Whether a line is more than a mistyped answer. */
const isMessage = (typed: string): boolean => typed.trim().length > 3;
