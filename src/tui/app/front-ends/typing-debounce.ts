import type { Clock } from "../../../world/world.ts";

/** Keeps questions away from somebody who types: a question opens only in quiet time. */
export class TypingDebounce {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  readonly #onQuiet: () => void;
  #at = 0;
  #stopTimer: (() => void) | undefined;

  /** `onQuiet` is called when a wait that was announced with `notify` is over. */
  constructor(clock: Pick<Clock, "elapsed" | "after">, onQuiet: () => void) {
    this.#clock = clock;
    this.#onQuiet = onQuiet;
  }

  get isIdle(): boolean {
    return this.#clock.elapsed() >= this.#at;
  }

  /** Starts the wait anew: it is quiet again `ms` milliseconds from now. */
  restart(ms: number): void {
    this.#at = this.#clock.elapsed() + ms;
    this.cancel();
  }

  /** Calls `onQuiet` once it is quiet. */
  notifyWhenIdle(): void {
    this.#stopTimer ??= this.#clock.after(Math.max(0, this.#at - this.#clock.elapsed()), () => {
      this.#stopTimer = undefined;
      this.#onQuiet();
    });
  }

  /** Drops the notification. */
  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
