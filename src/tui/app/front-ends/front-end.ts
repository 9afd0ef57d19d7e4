import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { CompletionChoice, CompletionQuery } from "../../editor/completion.ts";
import type { SendAfter } from "../../editor/keymap.ts";
import type { EncodedImage, PixelSize } from "../../images/encode.ts";
import type { ImageSupport } from "../../images/support.ts";
import type { KeyRemap } from "../../keys/key-file.ts";
import type { SuspendOptions } from "../../screen/screen.ts";
import type { Theme } from "../../screen/theme.ts";
import type { StyledLine } from "../../text/style.ts";
import type { ColoursOf } from "../../views/approval.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { ServerAnswer } from "../../views/server-question.ts";
import type { ServerQuestion } from "../approvals/server-questions.ts";

/** A front end: shows the conversation on a screen, or as plain lines for screen readers. */
export interface FrontEnd {
  width(): number;
  /** Whether the terminal shows what is typed itself, so that a submitted line is not printed again. */
  readonly echoesInput: boolean;
  /** Prints final lines. */
  print(lines: readonly StyledLine[]): void;
  /** Redraws after a change of the live part or of the pending questions. */
  update(): void;
  /** Resolves once the output queue has drained (back pressure). */
  waitForDrain(): Promise<void>;
  /** Opens a picker; resolves to undefined if the user cancels. */
  pick(title: string, options: readonly PickerOption[], focused?: string): Promise<PickerOption | undefined>;
  /**
   * Asks for a decision the user did not initiate; resolves to undefined without one. What the user types meanwhile is
   * their next message, never an answer.
   */
  confirm(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined>;
  /** Puts messages that were not sent back into the input. */
  restoreDraft(marked: string): void;
  /** Suspends the screen while another program uses the terminal. With `hidesInput`, that program decides what is echoed. */
  suspendFor<Result>(work: () => Promise<Result>, options?: SuspendOptions): Promise<Result>;
  /** Copies text to the terminal's clipboard (OSC 52). */
  copyToClipboard(text: string): Promise<void>;
  /** Whether the code of diffs has colours: only where backgrounds tell what was added and removed. */
  readonly coloursDiffs: boolean;
  /** The image protocol of the terminal. */
  readonly imageSupport: ImageSupport;
  /** The size of a character cell in pixels, if the terminal reported it. */
  readonly cellSize?: PixelSize | undefined;
  printImage(image: EncodedImage): void;
  /** Sets the theme; undefined selects one that suits the terminal. */
  setTheme(theme: Theme | undefined): void;
  /** The user's own keys, once they are read. */
  keyRemap(): KeyRemap | undefined;
  /** The name of the key that does an action: the user's own, else the standard one. */
  keyLabel(action: string, standard: string): string;
  /** Notifies the user, if they are not looking. */
  notifyIfAway(text: string): void;
  /** Draws what is pending and restores the terminal. */
  close(): Promise<void>;
}

/** Work of a command: its name, and how much of it is done (0 to 1) if that is known. */
export type WorkProgress = { readonly label: string; readonly share?: number | undefined };

/** Why the program quits without the user's request: the terminal is gone, or `SIGTERM` arrived. */
export type QuitReason = "hang-up" | "terminate";

/** A queued message, as a marked text: sent after the step or turn, after the running command, or once a session is open. */
export type QueuedMessage = { readonly marked: string; readonly sendAfter: SendAfter | "command" | "start" };

/** The application behind a front end: the state it shows and the actions it triggers. */
export type FrontEndHost = {
  /** The lines that may still change. */
  readonly live: () => readonly StyledLine[];
  readonly status: (width: number) => StyledLine;
  /** When the running turn or command began; undefined when idle. */
  readonly busySince: () => number | undefined;
  /** The name of the running work of a command, and how much of it is done if that is known. */
  readonly work: () => WorkProgress | undefined;
  /** The pending approvals, in order. */
  readonly questions: () => readonly PendingApproval[];
  /** Called when the subject of a question was printed, because it is taller than the screen. */
  readonly markPrinted: (question: PendingApproval) => void;
  readonly answerApproval: (question: PendingApproval, decision: ApprovalDecision) => void;
  /** The pending questions of MCP servers, in order. */
  readonly serverQuestions: () => readonly ServerQuestion[];
  readonly answerServer: (question: ServerQuestion, answer: ServerAnswer) => void;
  /** The current model. */
  readonly model: () => string;
  /** The colours of code in a diff. */
  readonly coloursOf: ColoursOf;
  /** Opens the proposed edit in the user's editor. */
  readonly editBeforeApproval: (question: PendingApproval) => void;
  /** Returns completion choices. */
  readonly complete: (
    completing: CompletionQuery,
  ) => readonly CompletionChoice[] | Promise<readonly CompletionChoice[]>;
  /** Returns the text to insert for a paste that is a file path; undefined for plain text. */
  readonly resolvePaste: (text: string) => Promise<string | undefined>;
  /** Attaches the clipboard image and returns its label. */
  readonly pasteClipboardImage: () => Promise<string | undefined>;
  /** Submits a marked text; while a turn runs it is queued. */
  readonly submit: (marked: string, sendAfter?: SendAfter) => void;
  /** The queued messages, oldest first. */
  readonly queued: () => readonly QueuedMessage[];
  /** Removes the last queued message and returns its marked text. */
  readonly takeBackQueued: () => string | undefined;
  /** Opens a message in the user's editor; resolves to undefined if it was left unchanged. */
  readonly editPrompt: (text: string) => Promise<string | undefined>;
  /** Cancels the running turn or command. */
  readonly cancel: () => void;
  /** Quits; with a reason if the user did not ask for it. */
  readonly quit: (reason?: QuitReason) => void;
  /** Prints collapsed output in full. */
  readonly expandCollapsed: () => void;
  /** Whether a command or subagent has run for a while that could go on in the background. */
  readonly canMoveToBackground: () => boolean;
  /** Moves running commands and subagents to the background. False if there is none. */
  readonly moveToBackground: () => boolean;
  /** Switches to the next favourite model. */
  readonly switchToNextFavourite: () => void;
  /** Switches between the topic of thinking and all of it. */
  readonly toggleThinking: () => void;
  /** Opens the list of messages to rewind to; the chosen one is put back into the input. */
  readonly rewind: () => void;
  /** Switches to the next approval mode. */
  readonly cycleApprovalMode: () => void;
};
