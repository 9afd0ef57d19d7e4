/** A limited number of slots. Who waits for one gets it in order of arrival. */
export class AgentSlots {
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a slot if one is free. */
  tryAcquire(): boolean {
    if (this.#used >= this.#size) return false;
    this.#used += 1;
    return true;
  }

  /** Takes a slot, as soon as one is free. */
  async acquire(): Promise<void> {
    if (this.tryAcquire()) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a slot back, or to the next that waits. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#used -= 1;
    else next();
  }
}
