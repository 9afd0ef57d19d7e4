import type { Clock } from "../../world/world.ts";

/** How much is taken from one server in a tenth of a second. */
const windowMs = 100;
const maxMessages = 200;
const maxBytes = 8 * 2 ** 20;

/** Slows down whoever floods, so that the others are heard. */
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

  /** Waits where too much came. What is beyond waits in its pipe, and so does the server. */
  async take({ bytes = 0, messages = 0 }: { readonly bytes?: number; readonly messages?: number }): Promise<void> {
    this.#bytes += bytes;
    this.#messages += messages;
    const left = this.#left();
    if ((this.#messages > maxMessages || this.#bytes > maxBytes) && left > 0) await this.#clock.sleep(left);
  }

  /** Counts a message that may be lost, and tells whether it is one too many. */
  shouldDrop(): boolean {
    this.#losable += 1;
    return this.#left() > 0 && this.#losable > maxMessages;
  }

  /** What is left of the present tenth of a second; a new one begins where it is over. */
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
