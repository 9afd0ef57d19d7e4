import type { Clock } from "../world/index.ts";
import { PlainStream } from "./plain.ts";

/** Milliseconds between two reports, however much there is to tell. */
const interval = 100;

/** Of more bytes than this between two reports, only the last are told. */
const most = 2 ** 15;

/** What a command prints, told while it runs and safe to show. */
export class LiveTail {
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #closed = new AbortController();
  #stream = new PlainStream();
  #pending: Uint8Array[] = [];
  #length = 0;
  #told = Number.NEGATIVE_INFINITY;
  #waits = false;

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#length += bytes.length;
    while (this.#length > most) this.#drop();
    if (this.#waits) return;
    const left = this.#told + interval - this.#clock.elapsed();
    if (left <= 0) return this.#tell();
    this.#waits = true;
    this.#clock.sleep(left, this.#closed.signal).then(
      () => this.#tell(),
      () => undefined,
    );
  }

  /** Tells the rest. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#tell();
    this.#say(this.#stream.end());
  }

  #drop(): void {
    const [first = new Uint8Array()] = this.#pending;
    const dropped = Math.min(first.length, this.#length - most);
    if (dropped === first.length) this.#pending.shift();
    else this.#pending[0] = first.subarray(dropped);
    this.#length -= dropped;
    this.#stream = new PlainStream();
  }

  #tell(): void {
    this.#waits = false;
    this.#told = this.#clock.elapsed();
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#length = 0;
    this.#say(this.#stream.write(bytes));
  }

  #say(text: string): void {
    if (text !== "") this.#report(text);
  }
}
