import type { Clock } from "../../world/world.ts";

/** Limits for one server in a window of 100 ms. */
const windowMs = 100;
const maxMessages = 200;
const maxBytes = 8 * 2 ** 20;

/** Slows down a server that floods us, so that the others are served. */
export class Throttle {
  readonly #clock: Clock;
  #began: number;
  #messages = 0;
  #losable = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.elapsed();
  }

  /** Waits when the limit is reached. The rest stays in the pipe, so the server blocks. */
  async take({ bytes = 0, messages = 0 }: { readonly bytes?: number; readonly messages?: number }): Promise<void> {
    this.#bytes += bytes;
    this.#messages += messages;
    const left = this.#left();
    if ((this.#messages > maxMessages || this.#bytes > maxBytes) && left > 0) await this.#clock.sleep(left);
  }

  /** Counts a message that may be dropped, and returns whether to drop it. */
  shouldDrop(): boolean {
    this.#losable += 1;
    return this.#left() > 0 && this.#losable > maxMessages;
  }

  /** Milliseconds left in the current window; starts a new one when it is over. */
  #left(): number {
    const left = this.#began + windowMs - this.#clock.elapsed();
    if (left > 0) return left;
    this.#began = this.#clock.elapsed();
    this.#messages = 0;
    this.#losable = 0;
    this.#bytes = 0;
    return 0;
  }
}
