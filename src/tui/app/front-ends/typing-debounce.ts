import type { Clock } from "../../../world/world.ts";

/** Debounces questions while the user types: a question opens only when the keyboard is idle. */
export class TypingDebounce {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  readonly #onIdle: () => void;
  #idleAt = 0;
  #stopTimer: (() => void) | undefined;

  /** `onIdle` is called when a wait requested with `notifyWhenIdle` is over. */
  constructor(clock: Pick<Clock, "elapsed" | "after">, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return this.#clock.elapsed() >= this.#idleAt;
  }

  /** Restarts the wait: idle again in `ms` milliseconds. */
  restart(ms: number): void {
    this.#idleAt = this.#clock.elapsed() + ms;
    this.cancel();
  }

  /** Calls `onIdle` once the keyboard is idle. */
  notifyWhenIdle(): void {
    this.#stopTimer ??= this.#clock.after(Math.max(0, this.#idleAt - this.#clock.elapsed()), () => {
      this.#stopTimer = undefined;
      this.#onIdle();
    });
  }

  /** Cancels the notification. */
  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
