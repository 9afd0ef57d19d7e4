import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { CompletionChoice, CompletionQuery } from "../../editor/completion.ts";
import type { EncodedImage, PixelSize } from "../../images/encode.ts";
import type { ImageSupport } from "../../images/support.ts";
import type { Theme } from "../../screen/theme.ts";
import type { StyledLine } from "../../text/style.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { ServerAnswer } from "../../views/server-question.ts";
import type { ServerQuestion } from "../approvals/server-questions.ts";

/** How the interface meets a person: on a screen, or in lines one after the other. */
export interface FrontEnd {
  width(): number;
  /** Adds finished lines. */
  print(lines: readonly StyledLine[]): void;
  /** Says that what is shown, or what is asked, has changed. */
  update(): void;
  /** Resolves once nearly all that was printed is on its way. */
  waitForDrain(): Promise<void>;
  /** Lets the person pick one of several things; undefined where they do not. */
  pick(title: string, options: readonly PickerOption[], focused?: string): Promise<PickerOption | undefined>;
  /**
   * Asks the person to decide something they did not ask for; undefined where they do not. What they type meanwhile is
   * their next message, never an answer.
   */
  confirm(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined>;
  /** Gives the terminal to somebody else while they work. */
  suspendFor<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Puts text on the clipboard of the terminal. */
  copyToClipboard(text: string): Promise<void>;
  /** How pictures can be shown, and one that is. */
  readonly imageSupport: ImageSupport;
  /** How large a letter is, where the terminal has said so. */
  readonly cellSize?: PixelSize | undefined;
  printImage(picture: EncodedImage): void;
  /** From now on in these colours; without any, in those that suit the terminal. */
  setTheme(theme: Theme | undefined): void;
  /** Draws what is left and gives the terminal back. */
  close(): Promise<void>;
}

/** Why the interface ends without the person having asked for it: the terminal is gone, or `SIGTERM` came. */
export type QuitReason = "hang-up" | "terminate";

/** Whom a front shows, and whom it tells what the person does. */
export type FrontEndHost = {
  /** What may still change. */
  readonly live: () => readonly StyledLine[];
  readonly status: (width: number) => StyledLine;
  /** When what is under way began; undefined where nothing is. */
  readonly busySince: () => number | undefined;
  /** The questions that wait, in order. */
  readonly questions: () => readonly PendingApproval[];
  readonly answerApproval: (question: PendingApproval, decision: ApprovalDecision) => void;
  /** What MCP servers ask, in order. */
  readonly serverQuestions: () => readonly ServerQuestion[];
  readonly answerServer: (question: ServerQuestion, answer: ServerAnswer) => void;
  /** The model that answers now. */
  readonly model: () => string;
  /** Has the person change what is asked about in their own editor. */
  readonly editBeforeApproval: (question: PendingApproval) => void;
  /** What can be completed. */
  readonly complete: (
    completing: CompletionQuery,
  ) => readonly CompletionChoice[] | Promise<readonly CompletionChoice[]>;
  /** What a paste stands for in the message, where it is more than its words. */
  readonly resolvePaste: (text: string) => Promise<string | undefined>;
  /** The picture on the clipboard, as it stands in the message. */
  readonly pasteClipboardImage: () => Promise<string | undefined>;
  readonly submit: (text: string) => void;
  /** A message in the person's own editor; undefined where it was left unchanged. */
  readonly editPrompt: (text: string) => Promise<string | undefined>;
  /** Ends what is under way. */
  readonly cancel: () => void;
  /** Ends the interface; with a reason where it was not the person who asked for it. */
  readonly quit: (reason?: QuitReason) => void;
  /** Shows in full what was folded last. */
  readonly expandCollapsed: () => void;
  /** Goes on to the next approval mode. */
  readonly cycleApprovalMode: () => void;
};
