import type { Clock } from "../../world/world.ts";
import { TerminalSanitizer } from "../terminal/sanitize.ts";

/** Milliseconds between two reports, however much there is to tell. */
const reportIntervalMs = 100;

/** Of more bytes than this between two reports, only the last are told. */
const maxPendingBytes = 2 ** 15;

/** What a command prints, told while it runs and safe to show. */
export class LiveTail {
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  #stream = new TerminalSanitizer();
  /** What waits to be told, copied: whoever reads a program's output does not keep it. */
  readonly #pending = Buffer.alloc(2 * maxPendingBytes);
  #length = 0;
  #told = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Leaves what waits to be told untold. */
  #forget: (() => void) | undefined;

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(bytes: Uint8Array): void {
    const last = bytes.subarray(-maxPendingBytes);
    if (last.length < bytes.length) this.#keep(0);
    if (this.#length + last.length > this.#pending.length) this.#keep(maxPendingBytes - last.length);
    this.#pending.set(last, this.#length);
    this.#length += last.length;
    if (this.#forget !== undefined) return;
    const left = this.#told + reportIntervalMs - this.#clock.elapsed();
    if (left <= 0) return this.#tell();
    this.#forget = this.#clock.after(left, () => this.#tell());
  }

  /** Tells the rest. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget?.();
    this.#tell();
    this.#say(this.#stream.end());
  }

  /** Forgets all but the last so many bytes. */
  #keep(length: number): void {
    this.#pending.copyWithin(0, this.#length - length, this.#length);
    this.#length = length;
    this.#stream = new TerminalSanitizer();
  }

  #tell(): void {
    this.#forget = undefined;
    this.#told = this.#clock.elapsed();
    const text = this.#stream.write(this.#pending.subarray(0, this.#length));
    this.#length = 0;
    this.#say(text);
  }

  #say(text: string): void {
    if (text !== "") this.#report(text);
  }
}
