import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { SchedulerClock } from "../clock.ts";

/** What a running call prints. It is told of at most once a second; nothing after the end is. */
export class LiveOutput {
  readonly #clock: SchedulerClock;
  readonly #tell: (text: string) => void;
  #text = "";
  #told = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Leaves what waits to be told untold. */
  #forget: (() => void) | undefined;

  constructor(clock: SchedulerClock, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** What was printed, or the end of it. */
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
