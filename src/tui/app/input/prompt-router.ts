import type { UserPart } from "../../../conversation/parts.ts";
import type { SendAfter } from "../../editor/keymap.ts";
import { expandMarkedText, isMemory, pastesOf } from "../../editor/state.ts";
import type { AppParts } from "../app-parts.ts";
import type { QueuedMessage } from "../front-ends/front-end.ts";
import { shellContextPart, viewShellResult, type ShellResult } from "../session/user-shell.ts";
import { showPromptMedia } from "../transcript/media.ts";
import { printInfo } from "../transcript/message.ts";
import { viewUserPrompt } from "../transcript/user-prompt.ts";

/** A submitted marked text. `isShown` is true if the terminal echoed it, or if it is the prompt of a command that was shown. */
type SubmittedPrompt = {
  readonly marked: string;
  readonly isShown: boolean;
  readonly sendAfter?: SendAfter | undefined;
  /** Sends it as a message with these parts after its text, whatever it looks like. */
  readonly parts?: readonly UserPart[];
};

/** Handles submitted texts: messages, slash commands, shell commands and facts to remember. */
export class PromptRouter {
  readonly #parts: AppParts;
  /** Prompts that wait until a session is open and no command runs that may replace it. */
  #waiting: SubmittedPrompt[] = [];
  /** Commands that are looked up, or that run and make prompts wait. */
  #exclusiveCommands = 0;

  constructor(parts: AppParts) {
    const { initialPrompt } = parts.options;
    this.#parts = parts;
    this.#waiting = initialPrompt === undefined ? [] : [{ marked: initialPrompt, isShown: false }];
  }

  /** Handles a submitted text, or keeps it until a session is open and no command may replace it. */
  submit(prompt: SubmittedPrompt): void {
    const { active, argumentCompletions, frontEnd, options, quit } = this.#parts;
    argumentCompletions.clearCache();
    if (prompt.parts === undefined) options.history.add(prompt.marked);
    if (active.chat !== undefined && this.#exclusiveCommands === 0) return this.#handle(prompt);
    if (isQuitCommand(prompt.marked)) return quit();
    this.#waiting.push(prompt);
    frontEnd.update();
  }

  /** Handles the prompts that waited, until one of them makes the others wait again. */
  submitWaiting(): void {
    while (this.#parts.active.chat !== undefined && this.#exclusiveCommands === 0) {
      const prompt = this.#waiting.shift();
      if (prompt === undefined) return;
      this.#handle(prompt);
    }
  }

  /** The prompts that wait, oldest first. */
  waiting(): readonly QueuedMessage[] {
    const sendAfter = this.#exclusiveCommands > 0 ? "command" : "start";
    return this.#waiting.map(({ marked }) => ({ marked, sendAfter }));
  }

  /** Removes the last prompt that waits and returns its marked text. */
  takeBack(): string | undefined {
    return this.#waiting.pop()?.marked;
  }

  /** Sends a message, or queues it; without a session it waits for one. Nothing is awaited before the session has it. */
  async send(prompt: SubmittedPrompt): Promise<void> {
    const { marked, isShown, sendAfter, parts = [] } = prompt;
    const { active, pastedFiles, transcript, showMedia } = this.#parts;
    const chat = active.chat;
    if (chat === undefined) return void this.#waiting.push(prompt);
    const files = pastedFiles.take(marked);
    chat.opened.addBlobs(files.blobs);
    const show = (): void => {
      transcript.beginTurn(pastesOf(marked));
      if (!isShown) this.#showPrompt(marked);
      showPromptMedia(files.parts, marked, showMedia);
    };
    await chat.submit({ marked, parts: [...files.parts, ...parts], show, restore: files.restore }, sendAfter);
  }

  /** Runs a command. Prompts wait while it is looked up, and while it runs if it is exclusive. */
  async runCommand(name: string, args: string): Promise<void> {
    const { active, catalog, commandContext, frontEnd, reportErrors } = this.#parts;
    this.#exclusiveCommands += 1;
    const release = once(() => {
      this.#exclusiveCommands -= 1;
      this.submitWaiting();
    });
    try {
      const command = await catalog.find(name);
      if (typeof command === "string") return printInfo(frontEnd, command);
      const running = reportErrors(async () => command.run(args, commandContext()));
      if (command.isExclusive !== true) release();
      await running;
    } finally {
      release();
    }
    await active.chat?.refreshContextUsage();
  }

  /** Runs a shell command and shows its output. */
  async runShell(command: string): Promise<ShellResult> {
    const { active, frontEnd, userShell } = this.#parts;
    const result = await userShell.run(command, await active.opened().services());
    frontEnd.print([...viewShellResult(result, frontEnd.width()), []]);
    return result;
  }

  #handle(prompt: SubmittedPrompt): void {
    const { reportErrors } = this.#parts;
    const { marked, isShown } = prompt;
    const text = expandMarkedText(marked);
    const isMessage = prompt.parts !== undefined || !/^(?:\s*\/[\w:.-]+(?:\s|$)|!)/.test(text);
    if (prompt.parts === undefined && isMemory(text))
      return void reportErrors(() => this.#addToMemory(text.slice(1).trim()));
    if (isMessage) return void reportErrors(() => this.send(prompt));
    if (!isShown) this.#showPrompt(marked);
    const [, name, args = ""] = /^\/([\w:.-]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
    if (name !== undefined) void this.runCommand(name, args.trim());
    else void reportErrors(() => this.#runPromptShell(text.slice(1).trim()));
  }

  async #addToMemory(fact: string): Promise<void> {
    const { addToMemory } = await import("../commands/built-in/memory.ts");
    await addToMemory(fact, this.#parts.commandContext());
  }

  #showPrompt(marked: string): void {
    const { frontEnd } = this.#parts;
    frontEnd.print(viewUserPrompt(marked, frontEnd.width()));
  }

  /** Runs a shell command the user typed. The session that was open gets its output with the next prompt. */
  async #runPromptShell(command: string): Promise<void> {
    const chat = this.#parts.active.chat;
    chat?.addToNextPrompt(shellContextPart(await this.runShell(command)));
  }
}

const isQuitCommand = (marked: string): boolean => /^\s*\/(?:quit|exit|q)\s*$/.test(marked);

/** Returns a function that does its work on the first call only. */
const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
};
