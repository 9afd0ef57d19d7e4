import type { Clock } from "../../../world/world.ts";

/** Milliseconds of work, or without a key, after which a person may have turned to something else. */
const awayAfter = 10_000;

/** The state a front end shows: the open question, and when the running work began. */
export type AttentionState = { readonly question: string | undefined; readonly busySince: number | undefined };

/** Options of an attention watch. */
export type AttentionOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  /** Calls the person; the text says why. */
  readonly notify: (text: string) => void;
  /** Takes the call back, since the person is here. */
  readonly clear: () => void;
};

/** Decides when a person is called: a question waits, or long work has ended, and they are not looking. */
export class AttentionWatch {
  readonly #options: AttentionOptions;
  /** Undefined until the terminal reports it. */
  #isFocused: boolean | undefined;
  #lastKeyAt = 0;
  #state: AttentionState = { question: undefined, busySince: undefined };
  #stopTimer: (() => void) | undefined;
  #hasNotified = false;

  constructor(options: AttentionOptions) {
    this.#options = options;
    this.#lastKeyAt = options.clock.elapsed();
  }

  setFocus(isFocused: boolean): void {
    this.#isFocused = isFocused;
    if (isFocused) this.#clear();
    else if (this.#state.question !== undefined) this.#callSoon(this.#state.question);
  }

  pressKey(): void {
    this.#lastKeyAt = this.#options.clock.elapsed();
    this.#clear();
  }

  update(next: AttentionState): void {
    const before = this.#state;
    this.#state = next;
    if (next.question !== before.question) {
      this.#cancelTimer();
      this.#clear();
      if (next.question !== undefined) this.#callSoon(next.question);
    }
    if (before.busySince !== undefined && next.busySince === undefined) this.#endWork(before.busySince);
  }

  /** Calls at once, if the person is not looking. */
  call(text: string): void {
    if (this.#isAway()) this.#notify(text);
  }

  close(): void {
    this.#cancelTimer();
    this.#clear();
  }

  #endWork(since: number): void {
    if (this.#options.clock.elapsed() - since >= awayAfter) this.call("Done");
  }

  /** Calls at once if the terminal is known not to have the focus, else after a while without a key. */
  #callSoon(question: string): void {
    this.#cancelTimer();
    this.#stopTimer = this.#options.clock.after(this.#isFocused === false ? 0 : awayAfter, () => {
      this.#stopTimer = undefined;
      if (this.#state.question === question && this.#isAway()) this.#notify(`Waiting for you: ${question}`);
    });
  }

  #isAway(): boolean {
    const { clock } = this.#options;
    return this.#isFocused === undefined ? clock.elapsed() - this.#lastKeyAt >= awayAfter : !this.#isFocused;
  }

  #notify(text: string): void {
    this.#clear();
    this.#hasNotified = true;
    this.#options.notify(text);
  }

  #clear(): void {
    if (!this.#hasNotified) return;
    this.#hasNotified = false;
    this.#options.clear();
  }

  #cancelTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
