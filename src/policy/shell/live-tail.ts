import type { Clock } from "../../world/world.ts";
import { TerminalSanitizer } from "../terminal/sanitize.ts";

/** The shortest time between two reports. */
const reportIntervalMs = 100;

/** If more bytes arrive between two reports, only the last are reported. */
const maxPendingBytes = 2 ** 15;

/** Reports a command's output while it runs, throttled and sanitized for the terminal. */
export class LiveTail {
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  #stream = new TerminalSanitizer();
  /** Bytes to report next, copied because the reader reuses its buffer. */
  readonly #pending = Buffer.alloc(2 * maxPendingBytes);
  #length = 0;
  #lastReport = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Cancels the scheduled report. */
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(bytes: Uint8Array): void {
    const last = bytes.subarray(-maxPendingBytes);
    if (last.length < bytes.length) this.#dropAllBut(0);
    if (this.#length + last.length > this.#pending.length) this.#dropAllBut(maxPendingBytes - last.length);
    this.#pending.set(last, this.#length);
    this.#length += last.length;
    if (this.#cancelTimer !== undefined) return;
    const left = this.#lastReport + reportIntervalMs - this.#clock.elapsed();
    if (left <= 0) return this.#flush();
    this.#cancelTimer = this.#clock.after(left, () => this.#flush());
  }

  /** Reports the rest. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#flush();
    this.#emit(this.#stream.end());
  }

  /** Drops all but the last `length` bytes. */
  #dropAllBut(length: number): void {
    this.#pending.copyWithin(0, this.#length - length, this.#length);
    this.#length = length;
    this.#stream = new TerminalSanitizer();
  }

  #flush(): void {
    this.#cancelTimer = undefined;
    this.#lastReport = this.#clock.elapsed();
    const text = this.#stream.write(this.#pending.subarray(0, this.#length));
    this.#length = 0;
    this.#emit(text);
  }

  #emit(text: string): void {
    if (text !== "") this.#report(text);
  }
}
