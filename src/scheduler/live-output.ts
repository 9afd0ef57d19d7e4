import { plain } from "../policy/plain.ts";
import type { SchedulerClock } from "./clock.ts";

/** What a running call prints. It is told of at most once a second; nothing after the end is. */
export class LiveOutput {
  readonly #clock: SchedulerClock;
  readonly #tell: (text: string) => void;
  readonly #closed = new AbortController();
  #text = "";
  #told = Number.NEGATIVE_INFINITY;
  #waits = false;

  constructor(clock: SchedulerClock, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** What was printed, or the end of it. */
  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    if (this.#closed.signal.aborted || text === "") return;
    const all = this.#text + text;
    this.#text = all.length <= most ? all : all.slice(-most).toWellFormed();
    if (this.#waits) return;
    const left = this.#told + interval - this.#clock.elapsed();
    if (left <= 0) return this.#tellNow();
    this.#waits = true;
    this.#clock.sleep(left, this.#closed.signal).then(
      () => this.#tellNow(),
      () => undefined,
    );
  }

  close(): void {
    this.#closed.abort("over");
  }

  #tellNow(): void {
    this.#waits = false;
    this.#told = this.#clock.elapsed();
    this.#tell(plain(this.#text));
  }
}

const interval = 1000;
const most = 32_000;
