import type { Clock } from "../../../world/world.ts";

/** Debounces questions while the user types: a question opens only when the keyboard is idle. */
export class TypingDebounce {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  readonly #onQuiet: () => void;
  #at = 0;
  #stopTimer: (() => void) | undefined;

  /** `onQuiet` is called when a wait requested with `notifyWhenIdle` is over. */
  constructor(clock: Pick<Clock, "elapsed" | "after">, onQuiet: () => void) {
    this.#clock = clock;
    this.#onQuiet = onQuiet;
  }

  get isIdle(): boolean {
    return this.#clock.elapsed() >= this.#at;
  }

  /** Restarts the wait: idle again in `ms` milliseconds. */
  restart(ms: number): void {
    this.#at = this.#clock.elapsed() + ms;
    this.cancel();
  }

  /** Calls `onQuiet` once the keyboard is idle. */
  notifyWhenIdle(): void {
    this.#stopTimer ??= this.#clock.after(Math.max(0, this.#at - this.#clock.elapsed()), () => {
      this.#stopTimer = undefined;
      this.#onQuiet();
    });
  }

  /** Cancels the notification. */
  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
