import type { Question } from "../../agent/agent.ts";
import type { Decision } from "../../scheduler/events.ts";
import type { Choice, Completing } from "../editor/completion.ts";
import type { Picture, Pixels } from "../images/encode.ts";
import type { PictureSupport } from "../images/support.ts";
import type { Theme } from "../screen/theme.ts";
import type { Line } from "../text/style.ts";
import type { Option } from "../views/picker.ts";
import type { ServerAnswer } from "../views/server-question.ts";
import type { ServerQuestion } from "./server-desk.ts";

/** How the interface meets a person: on a screen, or in lines one after the other. */
export interface Front {
  width(): number;
  /** Adds finished lines. */
  print(lines: readonly Line[]): void;
  /** Says that what is shown, or what is asked, has changed. */
  update(): void;
  /** Resolves once nearly all that was printed is on its way. */
  room(): Promise<void>;
  /** Lets the person pick one of several things; undefined where they do not. */
  pick(title: string, options: readonly Option[], focused?: string): Promise<Option | undefined>;
  /**
   * Asks the person to decide something they did not ask for; undefined where they do not. What they type meanwhile is
   * their next message, never an answer.
   */
  confirm(title: string, options: readonly Option[]): Promise<Option | undefined>;
  /** Gives the terminal to somebody else while they work. */
  outside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Puts text on the clipboard of the terminal. */
  copy(text: string): Promise<void>;
  /** How pictures can be shown, and one that is. */
  readonly pictures: PictureSupport;
  /** How large a letter is, where the terminal has said so. */
  readonly letter?: Pixels | undefined;
  printPicture(picture: Picture): void;
  /** From now on in these colours; without any, in those that suit the terminal. */
  setTheme(theme: Theme | undefined): void;
  /** Draws what is left and gives the terminal back. */
  close(): Promise<void>;
}

/** Why the interface ends without the person having asked for it: the terminal is gone, or `SIGTERM` came. */
export type LeaveReason = "hang-up" | "terminate";

/** Whom a front shows, and whom it tells what the person does. */
export type Host = {
  /** What may still change. */
  readonly live: () => readonly Line[];
  readonly status: (width: number) => Line;
  /** When what is under way began; undefined where nothing is. */
  readonly since: () => number | undefined;
  /** The questions that wait, in order. */
  readonly questions: () => readonly Question[];
  readonly decide: (question: Question, decision: Decision) => void;
  /** What MCP servers ask, in order. */
  readonly serverQuestions: () => readonly ServerQuestion[];
  readonly answerServer: (question: ServerQuestion, answer: ServerAnswer) => void;
  /** The model that answers now. */
  readonly model: () => string;
  /** Has the person change what is asked about in their own editor. */
  readonly editFirst: (question: Question) => void;
  /** What can be completed. */
  readonly choices: (completing: Completing) => readonly Choice[] | Promise<readonly Choice[]>;
  /** What a paste stands for in the message, where it is more than its words. */
  readonly pasted: (text: string) => Promise<string | undefined>;
  /** The picture on the clipboard, as it stands in the message. */
  readonly clipboard: () => Promise<string | undefined>;
  readonly submit: (text: string) => void;
  /** A message in the person's own editor; undefined where it was left unchanged. */
  readonly compose: (text: string) => Promise<string | undefined>;
  /** Ends what is under way. */
  readonly cancel: () => void;
  /** Ends the interface; with a reason where it was not the person who asked for it. */
  readonly leave: (reason?: LeaveReason) => void;
  /** Shows in full what was folded last. */
  readonly unfold: () => void;
  /** Goes on to the next approval mode. */
  readonly nextMode: () => void;
};
