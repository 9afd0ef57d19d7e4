import { untilAborted } from "./stop.ts";

/** A counting semaphore: slots are given out in the order of requests. */
export class Slots {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot and returns its release. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    return () => this.#release();
  }

  #wait(signal: AbortSignal): Promise<void> {
    let enter = (): void => {};
    const turn = new Promise<void>((resolve) => (enter = resolve));
    this.#queue.push(enter);
    return untilAborted(signal, turn).catch((error: unknown) => {
      const place = this.#queue.indexOf(enter);
      if (place === -1) this.#release();
      else this.#queue.splice(place, 1);
      throw error;
    });
  }

  #release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
