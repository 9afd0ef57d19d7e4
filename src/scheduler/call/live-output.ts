import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { SchedulerClock } from "../clock.ts";

/** The output of a running call. Reports it at most once a second, and nothing after `close`. */
export class LiveOutput {
  readonly #clock: SchedulerClock;
  readonly #tell: (text: string) => void;
  #text = "";
  #told = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Cancels the scheduled report. */
  #forget: (() => void) | undefined;

  constructor(clock: SchedulerClock, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The output so far, or its tail. */
  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    if (this.#isClosed || text === "") return;
    const all = this.#text + text;
    this.#text = all.length <= maxOutputText ? all : all.slice(-maxOutputText).toWellFormed();
    if (this.#forget !== undefined) return;
    const left = this.#told + reportInterval - this.#clock.elapsed();
    if (left <= 0) return this.#tellNow();
    this.#forget = this.#clock.after(left, () => this.#tellNow());
  }

  close(): void {
    this.#isClosed = true;
    this.#forget?.();
  }

  #tellNow(): void {
    this.#forget = undefined;
    this.#told = this.#clock.elapsed();
    this.#tell(sanitizeForTerminal(this.#text));
  }
}

const reportInterval = 1000;
const maxOutputText = 32_000;
